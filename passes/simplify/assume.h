// Simplifies a value under assumptions: bounds on coordinates, and known bools.
//
// Each assumption is tried alone, with a bounded substitute for the node that it bounds, and the
// cheaper result is kept. A value with a division is also tried with all bounds on coordinates
// together, and with each way in which a bound on a sum can hold.
#ifndef TG_PASSES_SIMPLIFY_ASSUME_H_
#define TG_PASSES_SIMPLIFY_ASSUME_H_

#include "ir/uop.h"
#include "llvm/ADT/SmallVector.h"
#include "passes/rewrite/rule_context.h"

namespace tg {

using Clauses = llvm::SmallVector<const UOp*, 8>;

// The operand of a negation; null if `u` is not one.
const UOp* Negated(const UOp* u);

// `value` under the assumption that all `clauses` hold: cheaper, or unchanged. Null if two clauses
// contradict each other.
const UOp* SimplifyUnderClauses(const Clauses& clauses, const UOp* value, RuleContext& rc);

}  // namespace tg

#endif  // TG_PASSES_SIMPLIFY_ASSUME_H_
