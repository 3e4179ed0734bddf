// Contractions: sums of products of two operands, each of which repeats along some axes of the
// result. Matrix products and convolutions are such kernels, in any layout.
#ifndef TG_PASSES_SCHEDULE_CONTRACTION_H_
#define TG_PASSES_SCHEDULE_CONTRACTION_H_

#include <optional>

#include "ir/module.h"

namespace tg {

// The product whose terms a kernel adds up, as nodes of the kernel's body.
struct Contraction {
  const UOp* reduce = nullptr;
  const UOp* product = nullptr;
};
// nullopt unless the kernel stores one value, made of one sum of products, and stages nothing.
std::optional<Contraction> FindContraction(const Kernel& kernel);

// The kernel's body with a `packed` op around each operand of the product, below the movement ops
// that repeat the operand; for this product only. Null if an operand is a constant or another sum.
// The operands' ops are `operands`, in the order of the product's sources.
const UOp* WithPackedOperands(Kernel& kernel, const Contraction& contraction,
                              const UOp* (&operands)[2]);

}  // namespace tg

#endif  // TG_PASSES_SCHEDULE_CONTRACTION_H_
