// Finds the loops and unrolled axes along which a node's value varies.
#ifndef TG_IR_FREE_LEAVES_H_
#define TG_IR_FREE_LEAVES_H_

#include <deque>
#include <vector>

#include "ir/builder.h"
#include "ir/walk.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"

namespace tg {

// Results are cached for one context, which may grow between calls.
class FreeLeaves {
 public:
  // The `range` and `unroll` nodes that `u` depends on, in order of creation, without the ones that
  // a node below `u` has closed. `end` and `reduce` close ranges, `contract` and `store` unrolled
  // axes, and `stage` both.
  llvm::ArrayRef<const UOp*> Of(const UOp* u);

  std::vector<const UOp*> RangesOf(const UOp* u);
  std::vector<const UOp*> UnrollsOf(const UOp* u);

 private:
  using Leaves = llvm::SmallVector<const UOp*, 4>;

  // Requires that the sources of the node have been computed.
  const Leaves* Compute(const UOp* u);

  NodeMap<const Leaves*> leaves_;  // most nodes share the list of one of their sources
  std::deque<Leaves> owned_;
  const Leaves none_;
};

// The row-major number of the current lane over these `unroll` nodes. `count` receives the number
// of lanes.
const UOp* LaneNumber(Builder& b, const std::vector<const UOp*>& unrolls, int64_t& count);

}  // namespace tg

#endif  // TG_IR_FREE_LEAVES_H_
