#include "passes/directives/checks.h"
#include "passes/directives/directives.h"

namespace tg::directive {

absl::Status Split::Check(const loop_nest::LoopNest& nest, const passes::Target&) const {
  size_t at = 0;
  if (absl::Status s = FindAxis(nest, axis, at); !s.ok()) return s;
  if (absl::Status s = CheckSplit(nest, at, size); !s.ok()) return s;
  if (size == nest.axes[at].max_size) return Illegal("the amount is the whole axis");
  return absl::OkStatus();
}

void Split::Apply(loop_nest::LoopNest& nest) const {
  const auto at = nest.AxisNamed(axis);
  nest.Split(at, nest.axes[at].max_size / size, size);
}

}  // namespace tg::directive
