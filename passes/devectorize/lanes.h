// Lanes: where each lane of a vector comes from, and vectors put together from such lanes.
//
// A lane's origin is a lane of a node that computes something: gep, cat, vectorize, splat and
// vconst are looked through. Whatever is assembled here refers to origins only, so shuffles of
// shuffles do not build up, and a gep of a cat of what it wants is just that.
#ifndef TG_PASSES_DEVECTORIZE_LANES_H_
#define TG_PASSES_DEVECTORIZE_LANES_H_

#include <cstdint>
#include <span>

#include "ir/builder.h"
#include "llvm/ADT/SmallVector.h"

namespace tg {

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

// Whether each of these is one more than the one before.
bool IsConsecutive(std::span<const int64_t> lanes);
// The lanes of `x` that are listed, in that order; repeats are allowed.
const UOp* PickLanes(Builder& b, const UOp* x, std::span<const int64_t> lanes);
// Lanes first..first+n-1 of `x`.
const UOp* Slice(Builder& b, const UOp* x, int first, int n);
inline const UOp* Lane(Builder& b, const UOp* x, int lane) { return Slice(b, x, lane, 1); }
// The parts' lanes, one after the other.
const UOp* Concat(Builder& b, UOpSpan parts);

// The scalar that all lanes of `x` are; null where they differ (or are not seen to be one).
const UOp* Uniform(Builder& b, const UOp* x);

}  // namespace tg

#endif  // TG_PASSES_DEVECTORIZE_LANES_H_
