// Computes the set of loops on which an index depends, through movement ops. `indexing.h` computes
// the same mapping as expressions; digits and sets are cheap enough for every node of a large
// graph. The result is conservative: an index that is not a mixed-radix number of loop digits
// depends on every loop that may influence it.
#ifndef TG_PASSES_ANALYSIS_LOOP_SETS_H_
#define TG_PASSES_ANALYSIS_LOOP_SETS_H_

#include <cstdint>
#include <vector>

#include "ir/shape.h"
#include "ir/uop.h"
#include "llvm/ADT/SmallVector.h"

namespace tg {

// A set of loops; bit i is loop i. All loops from number 63 on share the last bit.
using LoopSet = uint64_t;
inline LoopSet LoopBit(size_t loop) { return LoopSet{1} << (loop < 63 ? loop : 63); }

// The digit `loop / stride % size` of a loop's counter.
struct LoopDigit {
  uint32_t loop = 0;
  int64_t stride = 1, size = 1;
  friend bool operator==(const LoopDigit&, const LoopDigit&) = default;
};

// The index along one axis, as digits of loop counters. `exact`: the index is the mixed-radix
// number of these digits, most significant first, or that number counted from the axis's other end.
// Otherwise it is an unknown function of the digits. `place` distinguishes different indices that
// have the same digits: it encodes the start of a shrink or pad, and the direction.
struct AxisLoops {
  bool exact = true;
  uint64_t place = 0;
  llvm::SmallVector<LoopDigit, 1> digits;
  friend bool operator==(const AxisLoops&, const AxisLoops&) = default;
};

// The index along an axis of extent `size` that is the counter of `loop`.
AxisLoops CountedBy(size_t loop, const Dim& size);

// Maps indices through a movement op: given the loops of each axis of `u` (shape `to`), returns
// those of each axis of its source (shape `from`).
std::vector<AxisLoops> LoopsThrough(const UOp* u, const Shape& from, const Shape& to,
                                    const std::vector<AxisLoops>& at);

LoopSet UnionOf(const std::vector<AxisLoops>& axes);

// Whether the buffer of a staged value needs no axis for this axis of the value, which has extent
// `size`. `ways` has the index along it for each read. True if all reads use the same loops of the
// stored shape (`stored`) and no others, and if these loops visit each index once.
bool IsCountedAlike(const Dim& size, const std::vector<const AxisLoops*>& ways, LoopSet stored);

}  // namespace tg

#endif  // TG_PASSES_ANALYSIS_LOOP_SETS_H_
