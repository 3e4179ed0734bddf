#include "passes/directives/checks.h"

namespace tg::directive {

absl::Status FindAxis(const loop_nest::LoopNest& nest, const std::string& name, size_t& at) {
  if (const int found = nest.FindAxis(name); found >= 0) {
    at = static_cast<size_t>(found);
    return absl::OkStatus();
  }
  std::string names;
  for (const loop_nest::LoopAxis& a : nest.axes)
    absl::StrAppend(&names, names.empty() ? "" : ", ", a.name);
  return Illegal("no axis '", name, "'; there are: ", names.empty() ? "none" : names);
}

absl::Status CheckUnused(const loop_nest::LoopNest& nest, size_t axis) {
  const loop_nest::LoopAxis& whole = nest.axes[axis];
  if (!whole.shares.empty()) return Illegal("axis ", whole.name, " shares axis ", whole.shares);
  for (const loop_nest::LoopAxis& a : nest.axes) {
    if (a.shares == whole.name) return Illegal("group axis ", a.name, " shares the axis");
  }
  for (const loop_nest::Copy& copy : nest.copies) {
    if (copy.at == whole.name) return Illegal("p", copy.number, " is packed in steps of the axis");
  }
  return absl::OkStatus();
}

absl::Status CheckSplit(const loop_nest::LoopNest& nest, size_t axis, int64_t size) {
  const loop_nest::LoopAxis& whole = nest.axes[axis];
  if (size < 2) return Illegal("the amount must be at least 2");
  if (absl::Status s = CheckUnused(nest, axis); !s.ok()) return s;
  if (whole.size.is_symbolic() && nest.maps[whole.base].OuterStepsOfBlock() % size != 0) {
    return Illegal("the axis is symbolic (padto a multiple of ", size, " first)");
  }
  if (whole.max_size == 0) return Illegal("the axis has no iterations");
  if (whole.max_size % size != 0) {
    return Illegal(size, " does not divide the axis's size ", whole.max_size, " (padto first)");
  }
  return absl::OkStatus();
}

}  // namespace tg::directive
