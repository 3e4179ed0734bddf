// The scores of a softmax as blocks take them: in the type of their sums, without constant factors.
#ifndef TG_PASSES_KERNELIZE_SOFTMAX_SCORES_H_
#define TG_PASSES_KERNELIZE_SOFTMAX_SCORES_H_

#include "ir/module.h"
#include "ir/shape.h"
#include "passes/kernelize/softmax_product.h"

namespace tg::kernelize {

struct PreparedScores {
  const UOp* scores;
  const UOp* scale;  // of the exponents, in the type of the sums; null: 1
};

// Rewrites `p.scores`. What does not vary along the terms in their products is staged.
PreparedScores PrepareScores(Context& context, ShapeMap& shapes, const SoftmaxProduct& p);

}  // namespace tg::kernelize

#endif  // TG_PASSES_KERNELIZE_SOFTMAX_SCORES_H_
