// Divides the terms of sums of products that have too few results for a GPU, as the gradients of
// weights have: each result is a sum over a batch and over space.
#ifndef TG_PASSES_KERNELIZE_PRODUCT_PARTS_H_
#define TG_PASSES_KERNELIZE_PRODUCT_PARTS_H_

#include "ir/builder.h"
#include "ir/shape.h"
#include "passes/target.h"

namespace tg::kernelize {

// The sum of products `reduce` in two steps: the first one computes each result for several parts
// of the terms, and stores them; the second one adds up the parts. Returns null if that is not
// predicted to be faster, or if `reduce` is no contraction. Reassociates the sum.
//
//   seconds = max(arithmetic / utilization, steps * load_seconds) + StoredSeconds(parts)
//
// where a work-item computes AccessWords() squared results, a step has the terms of unrolled loops,
// and the work-items of a group share what they can of the outermost axis of terms, or nothing if
// there are parts.
const UOp* SplitProduct(const UOp* reduce, Builder& b, ShapeMap& shapes,
                        const passes::Target& target, ModuleFlags flags);

}  // namespace tg::kernelize

#endif  // TG_PASSES_KERNELIZE_PRODUCT_PARTS_H_
