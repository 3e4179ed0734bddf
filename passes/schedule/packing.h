// Sharing among the rows of one work-group on a CPU: how rows are distributed to groups, and which
// operands a group copies for all of its rows.
#ifndef TG_PASSES_SCHEDULE_PACKING_H_
#define TG_PASSES_SCHEDULE_PACKING_H_

#include <cstdint>
#include <optional>

#include "passes/schedule/schedule_builder.h"

namespace tg::schedule {

// The most rows that one work-item computes together: sums that hide the latency of an addition.
inline int64_t RowsTogether(const passes::Target& target) { return target.LatencySums(); }

// Describes a load that should be copied. A row-fused kernel stages some sums for each row, such as
// the products of a query with all keys in attention, and this load reads their terms with a
// stride. To vectorize the terms would mean adding up the lanes of each sum, which costs as much as
// several vectors of products. Instead the sums are the lanes, and each group reads a copy in which
// the elements for one vector of sums are contiguous.
struct PackedRows {
  const UOp* load = nullptr;
  int64_t sums = 0;    // number of sums for each row
  int64_t stride = 0;  // distance in elements between the terms of consecutive sums
  int64_t lanes = 1;
};
// Must be called before any directive is chosen. Returns nullopt if no copy would pay.
std::optional<PackedRows> FindPackedRows(const ScheduleBuilder& t);

// Turns the axes of rows along which some staged value is invariant into loops, so that a group
// computes that value once. A part of such an axis stays global if there would be too few groups
// otherwise. Returns false if there is no such axis.
bool LoopOverStaged(ScheduleBuilder& t, analysis::LoopSet shared);

}  // namespace tg::schedule

#endif  // TG_PASSES_SCHEDULE_PACKING_H_
