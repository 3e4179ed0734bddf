// Vectors as wide as operands are without a shuffle.
#ifndef TG_PASSES_DEVECTORIZE_OPERAND_WIDTH_H_
#define TG_PASSES_DEVECTORIZE_OPERAND_WIDTH_H_

#include "ir/uop.h"
#include "passes/target.h"

namespace tg {

// Bytes of a vector in arithmetic for the expanded body whose nodes are `order`. What is loaded
// once for several lanes is picked apart by `gep`: four pixels for each of eight channels are
// 0 1 2 3 0 1 2 3 ..., their weights 0 0 0 0 1 1 1 1 .... In vectors of four lanes these are a load
// and a broadcast each, in wider ones they are shuffled, which costs more than the lanes save. So
// the widest vectors are taken in which each pick in the innermost loops is a run of neighbours or
// one lane; the target's own width if a vector would have less than 16 bytes.
int OperandWidth(UOpSpan order, const Target& target);

}  // namespace tg

#endif  // TG_PASSES_DEVECTORIZE_OPERAND_WIDTH_H_
