// Products of a softmax and factors that few rows of it share, as in attention of one query.
//
// Its exponentials would be a matrix that each product reads once. Where computing them again for a
// few results at a time costs less than storing them, the maximum, the sum and the products are one
// kernel (schedule/gpu_row_terms.cc), which reads the scores.
#ifndef TG_PASSES_KERNELIZE_ROW_SOFTMAX_H_
#define TG_PASSES_KERNELIZE_ROW_SOFTMAX_H_

#include "ir/module.h"
#include "ir/shape.h"
#include "ir/walk.h"
#include "passes/target.h"

namespace tg::kernelize {

// Finds such products on a GPU: adds the nodes from them down to the scores to `fused`, and makes
// the scores `contiguous`. Returns how many it found.
int64_t FuseRowSoftmaxes(const Module& module, Body& body, ShapeMap& shapes,
                         const passes::Target& target, NodeSet& fused, UOpSpan order);

}  // namespace tg::kernelize

#endif  // TG_PASSES_KERNELIZE_ROW_SOFTMAX_H_
