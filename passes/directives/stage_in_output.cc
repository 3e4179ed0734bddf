#include "passes/directives/checks.h"
#include "passes/directives/directives.h"

namespace tg::directive {

absl::Status StageInOutput::Check(const loop_nest::LoopNest& nest, const passes::Target&) const {
  size_t at = 0;
  if (absl::Status s = FindAxis(nest, axis, at); !s.ok()) return s;
  const size_t base = nest.axes[at].base;
  if (!nest.base[base].staged) return Illegal("axis ", axis, " is none of a staged value");
  if (nest.held_by_output[base] == 0) {
    return Illegal(
        "its elements are not each read for the result at the same place, in the type of the "
        "results, after all other reads");
  }
  if (nest.in_output) return Illegal("another staged value is in the output");
  return absl::OkStatus();
}

void StageInOutput::Apply(loop_nest::LoopNest& nest) const {
  nest.in_output = nest.axes[nest.AxisNamed(axis)].base;
}

}  // namespace tg::directive
