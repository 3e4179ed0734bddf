// Simplifies a value under assumptions: bounds on expressions, known bools, and equalities.
//
// Each bound is tried alone: a variable with these bounds replaces the expression, the value is
// simplified, and the result is kept if it is cheaper. A value with a division is also simplified
// under all bounds on loop and work-item ids together. A bound on a sum, such as 0 < a + b, means
// that 0 < a or 0 < b; if the value has one simple form in all of these cases, it is replaced by
// that form. (This is tried for any bound on a sum if the value has a division, and otherwise only
// for bounds of exactly this shape.)
#ifndef TG_PASSES_SIMPLIFY_ASSUME_H_
#define TG_PASSES_SIMPLIFY_ASSUME_H_

#include "ir/uop.h"
#include "llvm/ADT/SmallVector.h"
#include "passes/rewrite/rule_context.h"

namespace tg::simplify {

using Clauses = llvm::SmallVector<const UOp*, 8>;

// The operand of a logical negation, which is written x != 1; null if `u` is not one.
const UOp* Negated(const UOp* u);

// A cheaper value that equals `value` where all `clauses` hold, or `value` itself. Null if the
// bounds that the clauses give for an expression are found to exclude each other.
const UOp* SimplifyUnderClauses(const Clauses& clauses, const UOp* value, rewrite::RuleContext& rc);

}  // namespace tg::simplify

#endif  // TG_PASSES_SIMPLIFY_ASSUME_H_
