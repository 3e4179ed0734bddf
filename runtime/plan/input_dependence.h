// Which kernels of a graph depend on the inputs of a run.
#ifndef TG_RUNTIME_PLAN_INPUT_DEPENDENCE_H_
#define TG_RUNTIME_PLAN_INPUT_DEPENDENCE_H_

#include <span>
#include <vector>

#include "ir/module.h"
#include "runtime/plan/executable.h"

namespace tg::runtime {

// For each step of the graph's schedule: whether it depends on an input, a variable, or a state
// that is kept between runs. The other steps compute the same values in each run.
std::vector<bool> StepsThatDependOnInput(const Module& module,
                                         std::span<const ScheduledKernel> schedule,
                                         std::span<const ScheduledLoop> loops = {});

}  // namespace tg::runtime

#endif  // TG_RUNTIME_PLAN_INPUT_DEPENDENCE_H_
