// What masks scores of a softmax: -inf selected instead of some, or added to them.
#ifndef TG_PASSES_KERNELIZE_SOFTMAX_MASK_H_
#define TG_PASSES_KERNELIZE_SOFTMAX_MASK_H_

#include <optional>
#include <vector>

#include "ir/builder.h"
#include "ir/module.h"
#include "ir/shape.h"
#include "passes/kernelize/softmax_product.h"

namespace tg::kernelize {

// Where scores are -inf: where the condition holds, or where it does not.
struct Mask {
  const UOp* condition;
  bool where_true;
  std::vector<const UOp*> movement;  // from the scores down to the condition
  const UOp* term = nullptr;         // of a sum of the scores and the mask
};

// The mask that selects -inf instead of a score, or that is added to the scores: 0 or -inf.
std::optional<Mask> FindMask(const UOp* scores, bool wide);

// Movement op `m` of `x` instead of its source.
const UOp* MovedLike(Context& ctx, const UOp* m, const UOp* x);

// A comparison of the scores' shape that masks them where it holds, or where it does not.
struct Comparison {
  const UOp* less;
  bool masks;
};

// The comparison of indices that masks a row's scores from some term on, as a causal mask does. It
// may be one of several that mask. Nullopt if there is none.
std::optional<Comparison> MaskOfLastTerms(Builder& b, const Module& module, ShapeMap& shapes,
                                          const SoftmaxProduct& p);

}  // namespace tg::kernelize

#endif  // TG_PASSES_KERNELIZE_SOFTMAX_MASK_H_
