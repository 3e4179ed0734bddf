// The set of loops that an index depends on, through movement ops. `indexing` computes the same
// mapping as expressions; this analysis uses digits and sets, which is cheap enough for every node
// of a big graph. It is conservative: an index that is not a plain string of digits depends on
// every loop that may influence it.
#ifndef TG_PASSES_ANALYSIS_LOOP_SETS_H_
#define TG_PASSES_ANALYSIS_LOOP_SETS_H_

#include <cstdint>
#include <vector>

#include "ir/shape.h"
#include "ir/uop.h"
#include "llvm/ADT/SmallVector.h"

namespace tg {

// Bit i: loop i. All loops from 63 on share the last bit.
using LoopSet = uint64_t;
inline LoopSet LoopBit(size_t loop) { return LoopSet{1} << (loop < 63 ? loop : 63); }

// loop / stride % size
struct LoopDigit {
  uint32_t loop = 0;
  int64_t stride = 1, size = 1;
  friend bool operator==(const LoopDigit&, const LoopDigit&) = default;
};

// The index along one axis. `exact`: the index is the mixed-radix number of these digits, most
// significant first, or that number counted from the other end. Otherwise it is some function of
// the digits. `place` distinguishes different indices over the same digits: by the start of a
// shrink or pad, and by the direction.
struct AxisLoops {
  bool exact = true;
  uint64_t place = 0;
  llvm::SmallVector<LoopDigit, 1> digits;
  friend bool operator==(const AxisLoops&, const AxisLoops&) = default;
};

// The index along an axis of `size` that equals the counter of `loop`.
AxisLoops CountedBy(size_t loop, const Dim& size);

// The loops of each axis of the source (shape `from`) of movement op `u`, given the loops of each
// axis of `u` (shape `to`).
std::vector<AxisLoops> LoopsThrough(const UOp* u, const Shape& from, const Shape& to,
                                    const std::vector<AxisLoops>& at);

LoopSet UnionOf(const std::vector<AxisLoops>& axes);

// Whether a staged value can drop one axis, of this size, from its buffer. `ways`: the indices
// along the axis at each read. True if every read uses the same loops of the stored shape
// (`stored`) and no others, and these loops take each index once.
bool IsCountedAlike(const Dim& size, const std::vector<const AxisLoops*>& ways, LoopSet stored);

}  // namespace tg

#endif  // TG_PASSES_ANALYSIS_LOOP_SETS_H_
