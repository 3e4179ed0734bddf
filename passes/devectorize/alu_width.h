// Cuts arithmetic to the target's vectors.
#ifndef TG_PASSES_DEVECTORIZE_ALU_WIDTH_H_
#define TG_PASSES_DEVECTORIZE_ALU_WIDTH_H_

#include "ir/module.h"
#include "passes/target.h"

namespace tg {

// Cuts elementwise ops to the target's width (to scalars where it has no vectors), computes what is
// one value in all lanes once, cancels cuts against what was put together, and folds what is a
// constant in a part of the lanes only. Afterwards every vector that anything uses has 1, 2, 4, 8
// or 16 lanes. `order`: what the root reaches, sources first.
void CutArithmetic(Body& body, const Module& module, const Target& target, UOpSpan order);

}  // namespace tg

#endif  // TG_PASSES_DEVECTORIZE_ALU_WIDTH_H_
