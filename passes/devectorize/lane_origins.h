// Finds the origin of each lane of a vector, and assembles vectors from such lanes.
//
// The origin of a lane is a lane of a node that is not gep, cat, vectorize, splat or vconst: the
// search looks through these. Assembled vectors refer to origins only, so chains of shuffles do not
// build up, and if all lanes of one node are assembled in order, the result is that node.
#ifndef TG_PASSES_DEVECTORIZE_LANE_ORIGINS_H_
#define TG_PASSES_DEVECTORIZE_LANE_ORIGINS_H_

#include <cstdint>
#include <span>

#include "ir/builder.h"
#include "llvm/ADT/SmallVector.h"

namespace tg::devectorize {

struct LaneRef {
  const UOp* node = nullptr;
  int lane = 0;
  friend bool operator==(const LaneRef&, const LaneRef&) = default;
};
using LaneRefs = llvm::SmallVector<LaneRef, 16>;

// The origin of lane `lane` of `x`. A constant's lane is a scalar const.
LaneRef OriginOf(Builder& b, const UOp* x, int lane);

// The vector (or scalar) of these origins, all of one scalar type.
const UOp* Assemble(Builder& b, std::span<const LaneRef> lanes);

// Whether each number is one more than the previous one.
bool IsConsecutive(std::span<const int64_t> lanes);
// The vector of the listed lanes of `x`, in that order; repeats are allowed.
const UOp* PickLanes(Builder& b, const UOp* x, std::span<const int64_t> lanes);
// Lanes first..first+n-1 of `x`.
const UOp* Slice(Builder& b, const UOp* x, int first, int n);
inline const UOp* Lane(Builder& b, const UOp* x, int lane) { return Slice(b, x, lane, 1); }
// The concatenation of the parts' lanes.
const UOp* Concat(Builder& b, UOpSpan parts);

// The scalar to which all lanes of `x` are equal; null if they differ or are not known to be equal.
const UOp* Uniform(Builder& b, const UOp* x);

}  // namespace tg::devectorize

#endif  // TG_PASSES_DEVECTORIZE_LANE_ORIGINS_H_
