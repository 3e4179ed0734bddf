#include "passes/kernelize/contractions.h"

#include <algorithm>

#include "llvm/ADT/STLExtras.h"
#include "passes/analysis/matrix_product.h"
#include "passes/kernelize/softmax_product.h"

namespace tg::kernelize {
namespace {

// Whether a reduce adds up, and both factors of what it adds are repeated along some axis of the
// result.
bool RepeatsFactors(const UOp* u, ShapeMap& shapes) {
  if (static_cast<Op>(u->word()) != Op::kAdd) return false;
  const UOp* product = u->src(0);
  const Shape& whole = shapes.Of(product);
  return llvm::all_of(product->srcs().first(2), [&](const UOp* factor) {
    for (size_t k = 0; k < whole.size(); ++k) {
      const UOp* below = nullptr;
      const bool is_term = llvm::is_contained(u->list(1), static_cast<int64_t>(k));
      if (!is_term && !whole[k].Is(1) && IsRepeatedAlong(factor, k, shapes, &below, true))
        return true;
    }
    return false;
  });
}

}  // namespace

bool IsContraction(const UOp* u, ShapeMap& shapes) {
  return u->src(0)->op == Op::kMul && RepeatsFactors(u, shapes);
}

bool IsContractionOrDots(const UOp* u, ShapeMap& shapes) {
  return (u->src(0)->op == Op::kMul || u->src(0)->op == Op::kDot4) && RepeatsFactors(u, shapes);
}

bool IsMatrixProduct(const UOp* product, ShapeMap& shapes) {
  if (product->op != Op::kMul || !IsStatic(shapes.Of(product))) return false;
  const auto instruction = analysis::InstructionOf(product, {});
  if (!instruction) return false;
  int64_t repeats[2] = {1, 1};  // of each factor
  const Shape& whole = shapes.Of(product);
  for (size_t axis = 0; axis < whole.size(); ++axis) {
    for (size_t k = 0; k < 2; ++k) {
      const UOp* below = nullptr;
      if (IsRepeatedAlong(product->src(k), axis, shapes, &below, true))
        repeats[k] *= whole[axis].value();
    }
  }
  return std::min(repeats[0], repeats[1]) >= instruction->m;
}

}  // namespace tg::kernelize
