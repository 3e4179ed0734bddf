// Rewrites a product of a softmax to blocks of terms, whose results a reduce_tuple combines.
#ifndef TG_PASSES_KERNELIZE_SOFTMAX_BLOCKS_H_
#define TG_PASSES_KERNELIZE_SOFTMAX_BLOCKS_H_

#include "ir/module.h"
#include "passes/kernelize/softmax_product.h"

namespace tg::kernelize {

// The value of the sum, in blocks of `block` terms (online_softmax.h).
const UOp* SoftmaxInBlocks(const Module& module, Body& body, const SoftmaxProduct& p,
                           int64_t block);

}  // namespace tg::kernelize

#endif  // TG_PASSES_KERNELIZE_SOFTMAX_BLOCKS_H_
