// The cost of a scheduled kernel in seconds, term by term. All rates are fields of Target.
//
//   total = launch + groups + max(compute / utilization, each memory level)
//
// Compute is that of the whole device at its full rate; memory terms are those of its busiest unit,
// or of all units where they share the memory. The greatest of them hides the others.
#ifndef TG_PASSES_COST_PREDICT_COST_H_
#define TG_PASSES_COST_PREDICT_COST_H_

#include <string>
#include <string_view>
#include <vector>

#include "ir/module.h"
#include "llvm/ADT/SmallVector.h"
#include "passes/analysis/accesses.h"
#include "passes/cost/scheduled_work.h"
#include "passes/loop_nest/loop_nest.h"
#include "passes/target.h"

namespace tg {

struct Cost {
  double compute = 0;                             // seconds of the fully used device
  llvm::SmallVector<double, 3> memory;            // seconds by level, as MemoryLevels
  llvm::SmallVector<std::string_view, 3> levels;  // the levels' names
  double utilization = 1;                         // share of the device that computes
  double launch = 0;                              // seconds of the launch
  double groups = 0;                              // seconds in which work-groups begin and end

  double Total() const { return launch + OnDevice(); }
  // Without the launch, as the device's own clock measures it.
  double OnDevice() const;
  // What decides the total: "compute", a memory level's name, or "launch".
  std::string_view Limit() const;
  // "total 1.2 s: compute 1 s at 83 %, core cache 0.3 s, ..., launch 5 us; limit compute".
  std::string Text() const;
};

// The cost of what a kernel executes.
Cost PredictCost(const ScheduledWork& work, const Target& target);

// What a kernel at Stage::kKernel executes by its schedule. `accesses`: those of the body, with
// those of staged values. Symbolic extents count with their greatest values.
ScheduledWork WorkOf(const Body& body, const LoopNest& nest, const std::vector<Access>& accesses,
                     const Target& target);

}  // namespace tg

#endif  // TG_PASSES_COST_PREDICT_COST_H_
