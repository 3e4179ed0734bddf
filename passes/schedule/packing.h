// Values that a group of rows shares on a CPU: how rows are spread over groups, and operands that
// are copied for all rows of a group.
#ifndef TG_PASSES_SCHEDULE_PACKING_H_
#define TG_PASSES_SCHEDULE_PACKING_H_

#include <cstdint>
#include <optional>

#include "passes/schedule/schedule_builder.h"

namespace tg {

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

}  // namespace tg

#endif  // TG_PASSES_SCHEDULE_PACKING_H_
