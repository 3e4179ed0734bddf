#include "passes/directives/checks.h"
#include "passes/directives/directives.h"

namespace tg::directive {
namespace {

int64_t RoundUp(int64_t n, int64_t step) { return (n + step - 1) / step * step; }

}  // namespace

absl::Status PadTo::Check(const LoopNest& nest, const Target&) const {
  size_t at = 0;
  if (absl::Status s = FindAxis(nest, axis, at); !s.ok()) return s;
  if (size < 2) return Illegal("the amount must be at least 2");
  const LoopAxis& a = nest.axes[at];
  if (nest.digits[a.base].size() != 1) return Illegal("pad before the axis is split");
  if (a.kind != AxisKind::kGlobal && a.kind != AxisKind::kReduce && a.kind != AxisKind::kLoop &&
      a.kind != AxisKind::kStage) {
    return Illegal("the axis is already ", std::string(AxisKindName(a.kind)));
  }
  if (a.size.is_symbolic()) return Illegal("the axis is symbolic");
  if (a.max_size < (size + 3) / 4) return Illegal("it would more than quadruple the axis");
  return absl::OkStatus();
}

void PadTo::Apply(LoopNest& nest) const {
  LoopAxis& a = nest.axes[nest.AxisNamed(axis)];
  const int64_t padded = RoundUp(a.max_size, size);
  if (padded == a.max_size) return;
  a.size = a.max_size = padded;
  nest.padded[a.base] = true;
}

}  // namespace tg::directive
