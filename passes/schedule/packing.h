// Packing on a CPU: an operand that is strided along the vectorized axis is copied, once for each
// group, into contiguous kernel memory (Goto and van de Geijn, "Anatomy of High-Performance Matrix
// Multiplication", 2008). VectorizationCost::Packs decides which operands are packed.
#ifndef TG_PASSES_SCHEDULE_PACKING_H_
#define TG_PASSES_SCHEDULE_PACKING_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "passes/schedule/cache_blocking.h"
#include "passes/schedule/schedule_builder.h"

namespace tg {

// Makes loops of the axes along which the packed loads are invariant, so that a group copies them
// once. A part of such an axis stays global where there would be too few groups. `own`: what each
// store gets by fission.
void LoopOverPacked(ScheduleBuilder& t, Own own = Own::kAny);

// A strided load of the terms of sums that a row-fused kernel stages for each row, such as the keys
// of attention. With vectorized terms, each sum would have to add up its lanes, which costs as much
// as some vectors of products. So the sums are vectorized instead, and the group reads a copy in
// which the elements for one vector are contiguous.
struct PackedRows {
  const UOp* load = nullptr;
  int64_t sums = 0;    // for each row
  int64_t stride = 0;  // elements between the terms of consecutive sums
  int64_t lanes = 1;
};
// Called before any directive is chosen; nullopt if no load is worth it.
std::optional<PackedRows> FindPackedRows(const ScheduleBuilder& t);

// Makes loops of the axes of rows along which some staged value is invariant, so that a group
// computes it once. A part of such an axis stays global where there would be too few groups.
// Returns false if there is no such axis.
bool LoopOverStaged(ScheduleBuilder& t, LoopSet shared);

// Whether the copies of `loads` packed loads fit into the memory that packing may use. If only a
// part of an axis is vectorized, the whole axis may have been staged.
bool PackedFits(const Schedule& schedule, size_t loads, const Target& target);

}  // namespace tg

#endif  // TG_PASSES_SCHEDULE_PACKING_H_
