// The axes along which a kernel's results share a reduce. A group norm over [C, H, W] has a mean
// for each of G groups of channels: over [G, C / G, H, W] the mean is the same along whole axes,
// over [C, H, W] it is not.
#ifndef TG_PASSES_KERNELIZE_ROW_SHAPE_H_
#define TG_PASSES_KERNELIZE_ROW_SHAPE_H_

#include "ir/shape.h"
#include "ir/uop.h"
#include "llvm/ADT/STLExtras.h"

namespace tg {

// The shape of `value`, with axes cut where a reduce in its expression varies over one part of an
// axis alone. The expression ends at nodes for which `is_leaf` holds; reduces are not looked into.
Shape RowShape(const UOp* value, ShapeMap& shapes, llvm::function_ref<bool(const UOp*)> is_leaf);

}  // namespace tg

#endif  // TG_PASSES_KERNELIZE_ROW_SHAPE_H_
