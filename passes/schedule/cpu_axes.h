// Rules for a CPU about axes, shared by the schedulers for all kinds of kernels.
#ifndef TG_PASSES_SCHEDULE_CPU_AXES_H_
#define TG_PASSES_SCHEDULE_CPU_AXES_H_

#include <string>

#include "passes/schedule/schedule_builder.h"
#include "passes/schedule/vectorization_cost.h"

namespace tg::schedule {

// Vectorizes the axis of this kind along which memory is accessed best. With `staged`, only axes of
// that staged value are considered. If the lanes of a load would come from distant addresses, it
// also upcasts the axis that is contiguous in that memory by the same amount, so that a square
// block is loaded as vectors and transposed in registers.
void VectorizeBest(ScheduleBuilder& t, AxisKind kind = AxisKind::kGlobal,
                   const UOp* staged = nullptr);

// Vectorizes an axis of the results. If `shared` is empty, also upcasts other axes into a register
// tile whose results share loads; otherwise the caller chooses the tile. Returns false, and does
// nothing, if it is better to vectorize the terms of the reduces. `shared` is the set of result
// axes along which some reduce is invariant.
bool VectorizeResults(ScheduleBuilder& t, analysis::LoopSet shared);

// Applies directive D to the axis of this name. Returns false if there is no such axis, or if the
// directive is not legal.
template <typename D>
bool TryNamed(ScheduleBuilder& t, const std::string& axis, int64_t amount) {
  const int at = t.nest().FindAxis(axis);
  return at >= 0 && t.Try<D>(static_cast<size_t>(at), amount);
}

// Applies a register tile: upcasts its axes of results and unrolls its axes of reduces.
void MakeTile(ScheduleBuilder& t, const VectorizationCost::RegisterTile& tile);

// Unrolls the innermost axis of each reduce if it has few iterations. The limit is higher if the
// iterations differ in padding or address, which unrolling turns into constants.
void UnrollShort(ScheduleBuilder& t);

// The number of work-groups from which the cores are kept equally busy, even if groups take
// different times.
int64_t EnoughGroups(const ScheduleBuilder& t);

// Turns global axes, the innermost ones, and a part of the next, into loops while enough
// work-groups are left, since starting a group has a cost. Axes in `shared` stay as they are.
void LoopOverRest(ScheduleBuilder& t, analysis::LoopSet shared = 0);

}  // namespace tg::schedule

#endif  // TG_PASSES_SCHEDULE_CPU_AXES_H_
