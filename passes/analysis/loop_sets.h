// Computes the set of loops on which an index depends, through movement ops. indexing.h computes
// the same mapping as expressions; the digits here are cheap enough for every node of a large
// graph. A digit is loop / stride % size. The result is conservative: an index that is not a
// mixed-radix number of loop digits depends on every loop that may influence it.
#ifndef TG_PASSES_ANALYSIS_LOOP_SETS_H_
#define TG_PASSES_ANALYSIS_LOOP_SETS_H_

#include <cstdint>
#include <vector>

#include "ir/shape.h"
#include "ir/uop.h"
#include "llvm/ADT/SmallVector.h"

namespace tg::analysis {

// A set of loops; bit i is loop i. All loops from number 63 on share the last bit.
using LoopSet = uint64_t;
inline LoopSet LoopBit(size_t loop) { return LoopSet{1} << (loop < 63 ? loop : 63); }

// The digit (counter / stride) % size of the counter of loop number `loop`; or, if that has a
// symbolic number of iterations, the whole counter, with `symbol` instead of the size.
struct LoopDigit {
  uint32_t loop = 0;
  int64_t stride = 1, size = 1;
  const UOp* symbol = nullptr;
  friend bool operator==(const LoopDigit&, const LoopDigit&) = default;
};

// The index along one axis, as digits of loop counters. `exact`: the index is the mixed-radix
// number of these digits, most significant first, or that number counted from the axis's other end
// (after a flip). Otherwise it is an unknown function of the digits. `place` tells indices with the
// same digits from each other: it is the sum of the starts of shrinks and pads, or a hash of that
// and of flips and symbolic starts.
struct AxisLoops {
  bool exact = true;
  uint64_t place = 0;
  llvm::SmallVector<LoopDigit, 1> digits;
  friend bool operator==(const AxisLoops&, const AxisLoops&) = default;
};

// The index along an axis of extent `size` that is the counter of loop number `loop`.
AxisLoops CountedBy(size_t loop, const Dim& size);

// Maps indices through a movement op: given the index along each axis of `u` (shape `to`), returns
// the index along each axis of its source (shape `from`).
std::vector<AxisLoops> LoopsThrough(const UOp* u, const Shape& from, const Shape& to,
                                    const std::vector<AxisLoops>& at);

// All loops that occur in the digits of `axes`.
LoopSet UnionOf(const std::vector<AxisLoops>& axes);

// Whether the buffer of a staged value needs no axis for this axis of the value, which has extent
// `size`. `ways` has the index along it for each read. True if all reads use the same index, and if
// that is an exact number of `size` values, made of digits of loops of the stored shape (`stored`)
// only: then each iteration of these loops needs one element, its own.
bool IsCountedAlike(const Dim& size, const std::vector<const AxisLoops*>& ways, LoopSet stored);

}  // namespace tg::analysis

#endif  // TG_PASSES_ANALYSIS_LOOP_SETS_H_
