// Which kernels of a graph depend on what a run is given.
#ifndef TG_RUNTIME_PLAN_INPUT_DEPENDENCE_H_
#define TG_RUNTIME_PLAN_INPUT_DEPENDENCE_H_

#include <span>
#include <vector>

#include "ir/module.h"
#include "runtime/plan/launch_order.h"

namespace tg::runtime {

// By step of the graph's schedule: whether an input, a variable, or a state that is kept between
// runs reaches it. Others compute the same in each run.
std::vector<bool> StepsThatDependOnInput(const Module& module,
                                         std::span<const ScheduledKernel> schedule);

}  // namespace tg::runtime

#endif  // TG_RUNTIME_PLAN_INPUT_DEPENDENCE_H_
