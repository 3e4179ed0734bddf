#include "passes/analysis/matrix_product.h"

namespace tg::analysis {

std::optional<MatrixInstruction> InstructionOf(const UOp* product, ModuleFlags flags) {
  if (product->op != Op::kMul) return std::nullopt;
  Scalar types[2];
  for (size_t k = 0; k < 2; ++k) {
    const UOp* x = product->src(k);
    while (IsMovement(x->op)) x = x->src(0);
    types[k] = (x->op == Op::kCast ? x->src(0) : x)->dtype.scalar();
  }
  return MatrixInstructionFor(types[0], types[1], product->dtype.scalar(), flags);
}

}  // namespace tg::analysis
