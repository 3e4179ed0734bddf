// Legalizes the vector widths of arithmetic.
#ifndef TG_PASSES_DEVECTORIZE_ALU_WIDTH_H_
#define TG_PASSES_DEVECTORIZE_ALU_WIDTH_H_

#include "ir/module.h"
#include "passes/target.h"

namespace tg::devectorize {

// Splits elementwise ops to the target's width (to scalars if it has no vectors), computes values
// that are equal in all lanes once, cancels extracts against concatenations, and folds values that
// are constant in some of the lanes. Afterwards every elementwise op has 1, 2, 4, 8 or 16 lanes.
// `order`: the nodes that the root reaches, sources first.
void CutArithmetic(Body& body, const Module& module, const passes::Target& target, UOpSpan order);

}  // namespace tg::devectorize

#endif  // TG_PASSES_DEVECTORIZE_ALU_WIDTH_H_
