// Chooses the vector width at which operands need no shuffles.
#ifndef TG_PASSES_DEVECTORIZE_OPERAND_WIDTH_H_
#define TG_PASSES_DEVECTORIZE_OPERAND_WIDTH_H_

#include "ir/uop.h"
#include "passes/target.h"

namespace tg::devectorize {

// The vector width of arithmetic, in bytes, for the expanded body whose nodes are `order`. A value
// that is loaded once and used by several lanes is read by a `gep`: four pixels for each of eight
// channels are lanes 0 1 2 3 0 1 2 3 ..., their weights are lanes 0 0 0 0 1 1 1 1 .... With four
// lanes these are one load and one broadcast; wider vectors need shuffles, which cost more than the
// width saves. The result is therefore the greatest width, at most the target's, at which each gep
// of floats in the innermost loops picks consecutive lanes or one repeated lane. A gep that allows
// this only for less than 16 bytes is not considered.
int OperandWidth(UOpSpan order, const passes::Target& target);

}  // namespace tg::devectorize

#endif  // TG_PASSES_DEVECTORIZE_OPERAND_WIDTH_H_
