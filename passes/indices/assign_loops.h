// The coordinate of each scheduled axis: a work-item id, a loop counter or a lane number.
#ifndef TG_PASSES_INDICES_ASSIGN_LOOPS_H_
#define TG_PASSES_INDICES_ASSIGN_LOOPS_H_

#include <vector>

#include "absl/status/statusor.h"
#include "ir/builder.h"
#include "passes/analysis/indexing.h"
#include "passes/loop_nest/loop_nest.h"
#include "passes/target.h"

namespace tg::indices {

struct Coordinates {
  // Indexed by position in LoopNest::axes. Null for the loop axes of reduces and staged values:
  // each use of such a node creates a range.
  std::vector<const UOp*> axis;
  std::vector<const UOp*> loops;  // the ranges among them (AxisKind::kLoop), around all stores
  const UOp* valid = nullptr;  // false for work-items beyond the axes' sizes; null: there are none
};

// Creates the coordinates. Global axes become dimensions of the grid, the last axis dimension 0,
// unless directive `grid` says otherwise. If there are more than three, neighbouring axes share a
// dimension. A dimension that is larger than the target allows is exchanged with another one, or
// continues in a free dimension of the grid. Local and group axes become local ids in the same way,
// except that a group axis, or a local axis whose work-items another reduce uses, never shares one.
// Fails if the axes do not fit the target.
absl::StatusOr<Coordinates> AssignLoops(Builder& b, const loop_nest::LoopNest& nest,
                                        const passes::Target& target,
                                        analysis::SimplifyFn simplify);

// The number of steps of an axis.
Dim StepsOf(Builder& b, const loop_nest::LoopNest& nest, const loop_nest::LoopAxis& axis);

// The index along base axis `base`: the sum of its digits' coordinates, each multiplied by the
// digit's stride. If the axis overlaps, its last block is moved back to where the axis ends. `axis`
// is as in Coordinates; the entries of these digits must not be null.
const UOp* BaseAxisValue(Builder& b, const loop_nest::LoopNest& nest, size_t base,
                         const std::vector<const UOp*>& axis, analysis::SimplifyFn simplify);

// For an axis that overlaps: the predicate that no earlier block has this step too.
const UOp* IsFirstTime(Builder& b, const loop_nest::LoopNest& nest, size_t base,
                       const std::vector<const UOp*>& axis, analysis::SimplifyFn simplify);

}  // namespace tg::indices

#endif  // TG_PASSES_INDICES_ASSIGN_LOOPS_H_
