// Rules for a CPU about axes, shared by the schedulers for all kinds of kernels.
#ifndef TG_PASSES_SCHEDULE_CPU_AXES_H_
#define TG_PASSES_SCHEDULE_CPU_AXES_H_

#include <string>

#include "passes/schedule/rules.h"
#include "passes/schedule/schedule_builder.h"
#include "passes/schedule/vector_axes.h"

namespace tg::schedule {

// Vectorizes an axis, of results or of a staged value. If the lanes of a load would come from
// distant addresses, it also upcasts the axis that is contiguous in that memory by the same amount,
// so that a square block is loaded as vectors and transposed in registers. Returns false, and does
// nothing, if the axis cannot be vectorized.
bool VectorizeBlocks(ScheduleBuilder& t, size_t axis);

// Vectorizes an axis of the results. Where vectors do not divide it, blocks of several overlap.
// Returns false, and does nothing, if it cannot be vectorized.
bool VectorizeResults(ScheduleBuilder& t, size_t axis);

// Pads an axis in which results are adjacent in memory, vectorizes it and upcasts the vectors, so
// that the compiler knows which lanes are padding. Returns false, and does nothing, if vectors
// divide the axis, or if they are too many for registers.
bool VectorizePadded(ScheduleBuilder& t, size_t axis);
// Pads an axis of results and vectorizes it. Where addresses have
// quotients and remainders of the axis, these vectors do not cross their periods, as vectors that
// overlap do. Returns false, and does nothing, if padding adds too much.
bool VectorizeAligned(ScheduleBuilder& t, size_t axis);

// After the vectors of results: upcasts other axes into a register tile whose results share loads.
void TileVectors(ScheduleBuilder& t);

// Applies directive D to the axis of this name. Returns false if there is no such axis, or if the
// directive is not legal.
template <typename D>
bool TryNamed(ScheduleBuilder& t, const std::string& axis, int64_t amount) {
  const int at = t.nest().FindAxis(axis);
  return at >= 0 && t.Try<D>(static_cast<size_t>(at), amount);
}

// Applies a register tile: upcasts its axes of results and unrolls its axes of reduces.
void MakeTile(ScheduleBuilder& t, const VectorAxes::RegisterTile& tile);

// Unrolls the innermost axis of each reduce if it has few iterations. The limit is higher if the
// iterations differ in padding or address, which unrolling turns into constants.
void UnrollShort(ScheduleBuilder& t);

// The number of work-groups from which the cores are kept equally busy, even if groups take
// different times.
int64_t EnoughGroups(const ScheduleBuilder& t);

// Turns global axes, the innermost ones, and a part of the next, into loops while enough
// work-groups are left, since starting a group has a cost. Axes in `shared` stay as they are.
void LoopOverRest(ScheduleBuilder& t, analysis::LoopSet shared = 0);

// Proposes the schedule with loops so that the cores are kept equally busy (LoopOverRest), and with
// more loops, for the few groups that each core needs if all take the same time.
void AddLooped(ScheduleBuilder& t, Proposals& to);

}  // namespace tg::schedule

#endif  // TG_PASSES_SCHEDULE_CPU_AXES_H_
