// The loops of a scheduled kernel, and in which of them something is executed.
#ifndef TG_PASSES_COST_KERNEL_NESTS_H_
#define TG_PASSES_COST_KERNEL_NESTS_H_

#include <cstddef>
#include <vector>

#include "ir/uop.h"
#include "llvm/ADT/SmallBitVector.h"
#include "passes/analysis/accesses.h"
#include "passes/cost/scheduled_work.h"
#include "passes/loop_nest/loop_nest.h"

namespace tg::cost {

// Positions in LoopNest::axes.
using AxisSet = llvm::SmallBitVector;

class KernelNests {
 public:
  explicit KernelNests(const loop_nest::LoopNest& nest);

  // A loop for each axis of the schedule, at its position.
  const std::vector<WorkLoop>& loops() const { return loops_; }
  bool IsLanes(size_t axis) const { return loops_[axis].steps == Steps::kLanes; }

  AxisSet None() const { return AxisSet(static_cast<unsigned>(s_.axes.size())); }
  AxisSet AxesOfBases(analysis::LoopSet bases) const;
  // The reduce or the staged value that an axis belongs to; null: it is an axis of what is stored.
  const UOp* OwnerOf(size_t axis) const;
  // The axes that belong to a reduce or a staged value, or both: those of a tuple's terms and those
  // of its results.
  AxisSet AxesOwnedBy(const UOp* owner) const;
  // The axes of a reduce or a staged value, and the axes along which its value varies. Null: the
  // axes of what is stored.
  AxisSet AxesOfOwner(const UOp* owner) const;
  // The axes that the address or the predicate of an access depends on.
  AxisSet AxesOf(const analysis::Access& access) const;
  // Adds, for each axis of a reduce or a staged value, the axes along which that value varies,
  // until no more are added.
  AxisSet Closed(AxisSet axes) const;

  // Whether a value that depends on these axes is an operand of vectors along another axis.
  bool IsBroadcast(const AxisSet& axes) const;

  // The loops in which a value is computed that depends on these axes: all loops over groups, and
  // of the serial loops those down to the innermost along which it varies. The
  // work-items of a local axis compute it even if it does not vary along the axis, unless they
  // share a reduce or a staged value among the axes. Lanes count only if it varies along them.
  LoopNestOf NestOf(AxisSet axes) const;
  // Whether the steps of a loop over work-items are those of neighbours, by a directive.
  bool IsNeighbours(size_t axis) const;
  // The loops that copy a packed value: those around each copy, then those of its elements.
  LoopNestOf NestOfCopy(const loop_nest::Copy& copy) const;
  // The number of those around.
  size_t AroundCopy(const loop_nest::Copy& copy) const;

 private:
  bool IsAround(size_t axis, const loop_nest::Copy& copy) const;
  // The position behind the innermost serial loop around a copy along which it varies: a copy that
  // is the same in all steps of a loop is made before it.
  size_t StepsAround(const loop_nest::Copy& copy) const;
  AxisSet FindAxesAround(size_t axis) const;
  // How many axes of reduces and staged values are around one of them, itself included.
  size_t DepthOf(size_t axis) const;
  // Whether the work-items along this axis are those of another axis in the set.
  bool IsSharedBy(size_t axis, const AxisSet& axes) const;

  const loop_nest::LoopNest& s_;
  std::vector<WorkLoop> loops_;
  // By axis: the axes along which the value varies that it belongs to, without that value's own:
  // the loop along the results of a tuple is inside that over its terms.
  std::vector<AxisSet> around_;
};

}  // namespace tg::cost

#endif  // TG_PASSES_COST_KERNEL_NESTS_H_
