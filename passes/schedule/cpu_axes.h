// Decisions about axes that kernels of every kind share on a CPU.
#ifndef TG_PASSES_SCHEDULE_CPU_AXES_H_
#define TG_PASSES_SCHEDULE_CPU_AXES_H_

#include <string>

#include "passes/schedule/schedule_builder.h"
#include "passes/schedule/vectorization_cost.h"

namespace tg {

// Vectorizes the best axis of this kind, of the staged value `staged` if it is given. Where lanes
// are loaded from distant addresses, it upcasts the axis that is contiguous in memory by the same
// amount, so that a square is loaded in vectors and transposed.
void VectorizeBest(ScheduleBuilder& t, AxisKind kind = AxisKind::kGlobal,
                   const UOp* staged = nullptr);

// Vectorizes an axis of results, and upcasts a tile of results that share loads. Returns false if
// vectorizing the terms of the reduces is better.
// `shared`: axes of what is stored along which some reduces are invariant.
bool VectorizeResults(ScheduleBuilder& t, LoopSet shared);

// Tries directive D on the axis of that name, if there is one.
template <typename D>
bool TryNamed(ScheduleBuilder& t, const std::string& axis, int64_t amount) {
  const int at = t.nest().FindAxis(axis);
  return at >= 0 && t.Try<D>(static_cast<size_t>(at), amount);
}

// Applies a tile: upcasts axes of results, unrolls axes of reduces.
void MakeTile(ScheduleBuilder& t, const VectorizationCost::RegisterTile& tile);

// Unrolls short reduce loops. A longer one, up to a window, is unrolled if its iterations differ in
// padding or address, which then become constants.
void UnrollShort(ScheduleBuilder& t);

// Enough for a good balance between cores, however long a group takes.
int64_t EnoughGroups(const ScheduleBuilder& t);

// Makes loops of axes that leave enough groups without them, since starting a group has a cost.
// `shared` axes are left alone.
void LoopOverRest(ScheduleBuilder& t, LoopSet shared = 0);

}  // namespace tg

#endif  // TG_PASSES_SCHEDULE_CPU_AXES_H_
