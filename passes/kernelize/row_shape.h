// Splits axes so that a kernel's results share a reduce along whole axes. A group norm has a mean
// for each of G groups of channels: over [G, C / G, H, W] the mean is invariant along whole axes,
// over [C, H, W] it is not.
#ifndef TG_PASSES_KERNELIZE_ROW_SHAPE_H_
#define TG_PASSES_KERNELIZE_ROW_SHAPE_H_

#include "ir/shape.h"
#include "llvm/ADT/ArrayRef.h"
#include "passes/analysis/loop_sets.h"

namespace tg::kernelize {

// Splits the axes of `shape` so that each of `digits` is a whole axis. Loop i iterates over the
// i-th axis of `shape` whose size is not 1. An axis whose split points do not divide each other is
// not split.
Shape CutAtDigits(const Shape& shape, llvm::ArrayRef<analysis::LoopDigit> digits);

// Merges neighbouring axes of `shape` that `loops` iterate over (loops as above), so that a row
// along several axes becomes a row along one.
Shape MergeAlong(const Shape& shape, analysis::LoopSet loops);

}  // namespace tg::kernelize

#endif  // TG_PASSES_KERNELIZE_ROW_SHAPE_H_
