// Splits axes so that a kernel's results share a reduce along whole axes. A group norm has a mean
// for each of G groups of channels: over [G, C / G, H, W] the mean is invariant along whole axes,
// over [C, H, W] it is not.
#ifndef TG_PASSES_KERNELIZE_ROW_SHAPE_H_
#define TG_PASSES_KERNELIZE_ROW_SHAPE_H_

#include "ir/shape.h"
#include "llvm/ADT/ArrayRef.h"
#include "passes/analysis/loop_sets.h"

namespace tg {

// `shape`, whose axes that are not 1 are counted by loops 0, 1, ..., with axes cut so that each of
// `digits` is a whole axis. An axis whose cuts do not divide each other stays as it is.
Shape CutAtDigits(const Shape& shape, llvm::ArrayRef<LoopDigit> digits);

// `shape`, whose axes that are not 1 are counted by loops 0, 1, ..., with neighbours that `loops`
// count made one axis: who shares a row along several axes shares one long one.
Shape MergeAlong(const Shape& shape, LoopSet loops);

}  // namespace tg

#endif  // TG_PASSES_KERNELIZE_ROW_SHAPE_H_
