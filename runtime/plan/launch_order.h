// Schedule: the order in which a graph's kernels and copies between devices run, and the memory and
// variables that each of them gets. Needs no device.
//
// A kernel runs after everything on which its operands and its results' assigns depend, and before
// every node that reads one of the assigns. Among the valid orders, the schedule takes the order of
// a depth-first walk from the sink that visits sources from the left, so equal graphs give equal
// schedules.
#ifndef TG_RUNTIME_PLAN_LAUNCH_ORDER_H_
#define TG_RUNTIME_PLAN_LAUNCH_ORDER_H_

#include <vector>

#include "absl/status/statusor.h"
#include "ir/module.h"
#include "runtime/plan/executable.h"

namespace tg::runtime {

// InvalidArgument, naming graph, node and line, if the graph holds something that a plan cannot
// execute: an op that kernelize would have put into a kernel, or a cyclic order. `loops` receives
// the loops, `measures` the variables that the graph measures; if it is null, a loop, or such a
// variable, is Unimplemented.
absl::StatusOr<std::vector<ScheduledKernel>> MakeSchedule(
    const Module& module, const Graph& graph, std::vector<ScheduledLoop>* loops = nullptr,
    std::vector<ScheduledMeasure>* measures = nullptr);

// The graph and, if the module has it, @init, which runs before the first run. Only their names,
// steps, loops and measures are set.
absl::StatusOr<std::vector<ScheduledGraph>> ScheduleRun(const Module& module, const Graph& graph);

}  // namespace tg::runtime

#endif  // TG_RUNTIME_PLAN_LAUNCH_ORDER_H_
