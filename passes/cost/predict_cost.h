// The cost of a scheduled kernel in seconds, term by term. All rates are fields of Target.
//
//   total = launch + groups + longest + Target::not_overlapped * the others,
//     of compute / utilization, each memory level, and a GPU's accesses and waits
//
// Compute is that of the whole device at its full rate; memory terms are those of its busiest unit,
// or of all units where they share the memory.
#ifndef TG_PASSES_COST_PREDICT_COST_H_
#define TG_PASSES_COST_PREDICT_COST_H_

#include <vector>

#include "ir/module.h"
#include "ir/walk.h"
#include "passes/analysis/accesses.h"
#include "passes/cost/cost.h"
#include "passes/cost/scheduled_work.h"
#include "passes/loop_nest/loop_nest.h"
#include "passes/target.h"

namespace tg::cost {

// The cost of what a kernel executes.
Cost PredictCost(const ScheduledWork& work, const passes::Target& target);

// What a kernel at Stage::kKernel executes by its schedule. `accesses`: those of the body, with
// those of staged values. `closed`: the reduces that are computed without a loop where no directive
// refers to their axes; a load inside is executed once, at an address that each result has for
// itself. Symbolic extents count with their greatest values.
ScheduledWork WorkOf(const Body& body, const loop_nest::LoopNest& nest,
                     const std::vector<analysis::Access>& accesses, const passes::Target& target,
                     const NodeSet& closed = {});

}  // namespace tg::cost

#endif  // TG_PASSES_COST_PREDICT_COST_H_
