// Contractions: sums of products of two operands, each of which repeats along some axes of the
// result. Matrix products and convolutions are such kernels, in any layout.
#ifndef TG_PASSES_SCHEDULE_CONTRACTION_H_
#define TG_PASSES_SCHEDULE_CONTRACTION_H_

#include <vector>

#include "ir/module.h"

namespace tg {

// A sum of products, as nodes of the kernel's body.
struct Contraction {
  const UOp* reduce = nullptr;
  const UOp* product = nullptr;
  // The `packed` ops of the product's sources, after WithPackedOperands().
  const UOp* operands[2] = {nullptr, nullptr};
};
// All reduces of a kernel, if each is a contraction and none is part of another, and the kernel
// stages nothing; else none.
std::vector<Contraction> FindContractions(const Kernel& kernel);

// The kernel's body with a `packed` op around each operand of the products, below the movement ops
// that repeat the operand; for these products only. Sets the operands, and the reduces of the new
// body.
const UOp* WithPackedOperands(Kernel& kernel, std::vector<Contraction>& contractions);

}  // namespace tg

#endif  // TG_PASSES_SCHEDULE_CONTRACTION_H_
