// A sum of products of a softmax and other factors, along the softmax's axis, in plain ops.
#ifndef TG_PASSES_KERNELIZE_SOFTMAX_PRODUCT_H_
#define TG_PASSES_KERNELIZE_SOFTMAX_PRODUCT_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "ir/shape.h"
#include "ir/uop.h"

namespace tg::kernelize {

// Rows of a softmax that are replaced by zeros.
enum class ClearedRows : uint8_t {
  kNone,
  kHidden,  // all scores are -inf
  kNan,     // the softmax is NaN, as it is if all scores are -inf
};

struct SoftmaxProduct {
  const UOp* sum = nullptr;  // of the products: a reduce_axis
  size_t factor = 0;         // which source of the product is the softmax
  // Movement ops from the softmax to the factor, users first. They keep the terms' axis whole.
  std::vector<const UOp*> movement;
  const UOp* softmax = nullptr;  // exponential / total
  ClearedRows cleared = ClearedRows::kNone;
  const UOp* exponential = nullptr;  // exp2(scale * (scores - greatest))
  const UOp* total = nullptr;        // the sum of the exponentials
  const UOp* maximum = nullptr;      // of the scores
  const UOp* greatest = nullptr;     // the maximum, or the greater one of it and the sink
  // One more score of each row, that only the softmax's total counts; null: none.
  const UOp* sink = nullptr;
  const UOp* scores = nullptr;
  const UOp* scale = nullptr;  // a positive constant; null: 1
  size_t scores_axis = 0;      // the terms' axis of the scores
  size_t axis = 0;             // and of the products
  std::vector<bool> repeats;   // by axis of the products: whether the softmax is the same along it
  bool wide = false;           // as given to FindSoftmaxProduct
  // Whether matrix instructions, which the target has, multiply f32 too.
  bool matrices = false;

  const UOp* product() const { return sum->src(0); }
  const UOp* other() const { return product()->src(1 - factor); }
};

// Nullopt if `u` is no such sum. `staged` ops inside are looked through; `wide`: casts between
// floats too, as values need not be rounded (ModuleFlag::kWideHalves).
std::optional<SoftmaxProduct> FindSoftmaxProduct(const UOp* u, ShapeMap& shapes, bool wide);

// The axis of a movement op's result that is axis `axis` of its source, whole. Nullopt if there is
// none, or if the op does more than move whole axes.
std::optional<size_t> AxisThrough(const UOp* movement, size_t axis, ShapeMap& shapes);

// Whether the value is the same along axis `axis`: some movement op on the way down repeats it.
// Sets `below` to the source of the lowest expand. `through_casts`: also an op below casts.
bool IsRepeatedAlong(const UOp* x, size_t axis, ShapeMap& shapes, const UOp** below,
                     bool through_casts = false);

// Whether `u` is a negation.
bool Negates(const UOp* u);

// The type of the other factor, before it is widened, if matrix instructions multiply such.
std::optional<Scalar> MatrixTypeOf(const SoftmaxProduct& p);

// Skips `staged`.
inline const UOp* Unstaged(const UOp* u) {
  while (u->op == Op::kStaged) u = u->src(0);
  return u;
}

// Skips `staged`, and with `wide` casts between f32 and halves.
inline const UOp* Unwrapped(const UOp* u, bool wide) {
  const auto is_narrow = [](const UOp* x) {
    const Scalar s = x->dtype.scalar();
    return s == Scalar::kF16 || s == Scalar::kBF16;
  };
  const auto is_float = [&](const UOp* x) {
    return is_narrow(x) || x->dtype.scalar() == Scalar::kF32;
  };
  for (;; u = u->src(0)) {
    const bool casts = wide && u->op == Op::kCast && is_float(u) && is_float(u->src(0)) &&
                       (is_narrow(u) || is_narrow(u->src(0)));
    if (!casts && u->op != Op::kStaged) return u;
  }
}

}  // namespace tg::kernelize

#endif  // TG_PASSES_KERNELIZE_SOFTMAX_PRODUCT_H_
