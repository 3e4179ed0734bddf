#include "passes/directives/checks.h"
#include "passes/directives/directives.h"

namespace tg::directive {

absl::Status Shuffle::Check(const loop_nest::LoopNest& nest, const passes::Target& target) const {
  if (!target.inline_ptx) return Illegal("target ", target.name, " has no shuffles");
  if (absl::Status s = Group::Check(nest, target); !s.ok()) return s;
  const size_t base = nest.axes[nest.AxisNamed(axis)].base;
  const UOp* const reduce = nest.base[base].reduce;
  if (!reduce || reduce->op == Op::kReduceTuple) return Illegal("axis ", axis, " is of no reduce");
  if (ByteSize(reduce->dtype.scalar()) < 4) return Illegal("shuffles move words of 32 bits");
  return absl::OkStatus();
}

void Shuffle::Apply(loop_nest::LoopNest& nest) const {
  Bind(nest, /*owned=*/true, /*in_blocks=*/false);
}

}  // namespace tg::directive
