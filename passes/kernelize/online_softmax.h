// Products of a softmax and a matrix in one kernel, as in attention.
//
// sum_k exp2(c * (s_k - max_k s)) / (sum_k exp2(c * (s_k - max_k s))) * v_k is computed block by
// block of terms k. A block has its own maximum m, sum of exponentials l and sum of products a,
// each an ordinary reduce over the block. A reduce_tuple combines them over blocks: where the
// maximum grows from m to n, what was summed up is scaled by exp2(c * (m - n)). So the kernel holds
// the scores of one block only (M. Milakov, N. Gimelshein, "Online normalizer calculation for
// softmax", 2018; T. Dao et al., "FlashAttention", NeurIPS 2022).
#ifndef TG_PASSES_KERNELIZE_ONLINE_SOFTMAX_H_
#define TG_PASSES_KERNELIZE_ONLINE_SOFTMAX_H_

#include "ir/module.h"
#include "ir/shape.h"
#include "ir/walk.h"
#include "passes/target.h"

namespace tg::kernelize {

// Finds such products in a prepared graph for which one kernel costs less than storing the softmax.
// Each becomes `contiguous`, and so does what it reads; the nodes between are added to `fused`.
// Returns how many it found.
int64_t FuseOnlineSoftmaxes(const Module& module, Body& body, ShapeMap& shapes,
                            const passes::Target& target, NodeSet& fused, UOpSpan order);

// Rewrites the body of a kernel that stores such a product, and nothing else, to blocks of terms.
// False if the kernel is none, or if a block would hold all terms.
bool RewriteOnlineSoftmax(const Module& module, Body& kernel, const passes::Target& target);

}  // namespace tg::kernelize

#endif  // TG_PASSES_KERNELIZE_ONLINE_SOFTMAX_H_
