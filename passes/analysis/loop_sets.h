// Which loops an index depends on, through movement ops: what `indexing` computes as expressions,
// as digits and sets. Cheap enough to ask of every node of a big graph, and never too small: where
// an index is no plain digit string it is said to depend on every loop that it may depend on.
#ifndef TG_PASSES_ANALYSIS_LOOP_SETS_H_
#define TG_PASSES_ANALYSIS_LOOP_SETS_H_

#include <cstdint>
#include <vector>

#include "ir/shape.h"
#include "ir/uop.h"
#include "llvm/ADT/SmallVector.h"

namespace tg {

// Bit i: loop i. Whoever numbers loops lets those from 63 on share the last bit.
using LoopSet = uint64_t;
inline LoopSet LoopBit(size_t loop) { return LoopSet{1} << (loop < 63 ? loop : 63); }

// loop / stride % size
struct LoopDigit {
  uint32_t loop = 0;
  int64_t stride = 1, size = 1;
  friend bool operator==(const LoopDigit&, const LoopDigit&) = default;
};

// The index along one axis. `exact`: it is the number that the digits spell, the first of which
// counts most (or that number from the other end); else it is made of these digits somehow.
// `place` tells indices apart that the same digits make in other ways: where a shrink or pad
// starts, from which end they count.
struct AxisLoops {
  bool exact = true;
  uint64_t place = 0;
  llvm::SmallVector<LoopDigit, 1> digits;
  friend bool operator==(const AxisLoops&, const AxisLoops&) = default;
};

// The index of an axis of `size` that a loop counts.
AxisLoops CountedBy(size_t loop, const Dim& size);

// The loops by axis of movement op `u`'s source (shape `from`), given them by axis of `u` (`to`).
std::vector<AxisLoops> LoopsThrough(const UOp* u, const Shape& from, const Shape& to,
                                    const std::vector<AxisLoops>& at);

LoopSet UnionOf(const std::vector<AxisLoops>& axes);

// Whether a value that is kept inside a kernel and read in these `ways` needs no room for one of
// its axes, of this size: each time, the same loops count along it and no others, of those over
// what the kernel stores (`stored`), and each index is met once.
bool IsCountedAlike(const Dim& size, const std::vector<const AxisLoops*>& ways, LoopSet stored);

}  // namespace tg

#endif  // TG_PASSES_ANALYSIS_LOOP_SETS_H_
