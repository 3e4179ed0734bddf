// The coordinate of each scheduled axis: which work-item, loop or lane it is.
#ifndef TG_PASSES_LOWER_COORDINATES_H_
#define TG_PASSES_LOWER_COORDINATES_H_

#include <vector>

#include "absl/status/statusor.h"
#include "ir/builder.h"
#include "passes/analysis/indexing.h"
#include "passes/analysis/schedule.h"
#include "passes/target.h"

namespace tg {

struct Coordinates {
  // By position in Schedule::axes; null for an axis of a reduce or a staged value that is a loop:
  // each makes its own.
  std::vector<const UOp*> axis;
  std::vector<const UOp*> loops;  // the ranges among them (AxisKind::kLoop) that all stores share
  std::vector<size_t> own_loops;  // and the axes along which each store, and what it reads that is
                                  // staged, has a range of its own, inside of those; `axis` has
                                  // that of the first store
  const UOp* store = nullptr;     // number of the store that the group makes; null: all of them
  const UOp* valid = nullptr;     // false for work-items beyond the axes' sizes
};

// Global axes become dimensions of the grid, the last axis dimension 0 unless opt `grid` says
// otherwise; neighbours share a dimension where there are more than three. Local and group axes
// become local ids likewise, a group axis always one of its own.
absl::StatusOr<Coordinates> MakeCoordinates(Builder& b, const Schedule& schedule,
                                            const Target& target, SimplifyFn simplify);

// The value of a base axis: the sum of its digits. `axis` as in Coordinates, with loops filled in.
const UOp* BaseAxisValue(Builder& b, const Schedule& schedule, size_t base,
                         const std::vector<const UOp*>& axis, SimplifyFn simplify);

}  // namespace tg

#endif  // TG_PASSES_LOWER_COORDINATES_H_
