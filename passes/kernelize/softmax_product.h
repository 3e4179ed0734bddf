// A sum of products of a softmax and other factors, along the softmax's axis, in plain ops.
#ifndef TG_PASSES_KERNELIZE_SOFTMAX_PRODUCT_H_
#define TG_PASSES_KERNELIZE_SOFTMAX_PRODUCT_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "ir/shape.h"
#include "ir/uop.h"

namespace tg::kernelize {

struct SoftmaxProduct {
  const UOp* sum = nullptr;  // of the products: a reduce_axis
  size_t factor = 0;         // which source of the product is the softmax
  // Movement ops from the softmax to the factor, users first. They keep the terms' axis whole.
  std::vector<const UOp*> movement;
  const UOp* softmax = nullptr;      // exponential / total
  const UOp* exponential = nullptr;  // exp2(scale * (scores - maximum))
  const UOp* total = nullptr;        // the sum of the exponentials
  const UOp* maximum = nullptr;      // of the scores
  const UOp* scores = nullptr;
  const UOp* scale = nullptr;  // a positive constant; null: 1
  size_t scores_axis = 0;      // the terms' axis of the scores
  size_t axis = 0;             // and of the products
  std::vector<bool> repeats;   // by axis of the products: whether the softmax is the same along it

  const UOp* product() const { return sum->src(0); }
  const UOp* other() const { return product()->src(1 - factor); }
};

// Nullopt if `u` is no such sum. `staged` ops inside are looked through.
std::optional<SoftmaxProduct> FindSoftmaxProduct(const UOp* u, ShapeMap& shapes);

// The axis of a movement op's result that is axis `axis` of its source, whole. Nullopt if there is
// none, or if the op does more than move whole axes.
std::optional<size_t> AxisThrough(const UOp* movement, size_t axis, ShapeMap& shapes);

// Skips `staged`.
inline const UOp* Unstaged(const UOp* u) {
  while (u->op == Op::kStaged) u = u->src(0);
  return u;
}

}  // namespace tg::kernelize

#endif  // TG_PASSES_KERNELIZE_SOFTMAX_PRODUCT_H_
