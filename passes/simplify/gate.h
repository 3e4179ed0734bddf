// Simplifies values under a gate (a predicate). A clause such as x < 5 bounds x, so a value that is
// used only where the gate holds is simplified for an x within these bounds. The result equals the
// value only where the gate holds.
#ifndef TG_PASSES_SIMPLIFY_GATE_H_
#define TG_PASSES_SIMPLIFY_GATE_H_

#include "ir/uop.h"
#include "passes/rewrite/rule_context.h"
#include "passes/simplify/assume.h"

namespace tg::simplify {

// A cheaper value that equals `value` where `gate` holds, or `value` itself. Null if two clauses of
// the gate are found to exclude each other.
const UOp* SimplifyUnder(const UOp* gate, const UOp* value, rewrite::RuleContext& rc);

// Adds the distinct operands of a tree of `and`s to `out`, in order. False if there are too many;
// then `out` has only some of them.
bool SplitAnd(const UOp* gate, Clauses& out);
// The negation of `gate`; if `gate` is itself a negation, its operand.
const UOp* NotGate(const UOp* gate, rewrite::RuleContext& rc);
// The conjunction of the clauses; null if there are none.
const UOp* JoinAnd(const Clauses& clauses, rewrite::RuleContext& rc);

// ---- Rules
// Canonicalizes an `and` of bools: removes duplicate clauses, simplifies each clause under the
// others, which removes clauses that the others imply, and sorts them by the innermost loop along
// which they vary, then in structural order. 0 if two clauses exclude each other.
const UOp* CanonicalAnd(const UOp* u, rewrite::RuleContext& rc);
// Simplifies the position of an `index` under its gate. A gate with clauses that exclude each other
// becomes 0.
const UOp* FoldGatedIndex(const UOp* u, rewrite::RuleContext& rc);
// Simplifies the branches of a `where` of integers, indices or bools: the first under the
// condition, the second under its negation, unless the condition is an `and`.
const UOp* FoldGatedWhere(const UOp* u, rewrite::RuleContext& rc);

}  // namespace tg::simplify

#endif  // TG_PASSES_SIMPLIFY_GATE_H_
