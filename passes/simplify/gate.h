// Simplifies values under a gate (a predicate). A clause such as x < 5 bounds x, so a value under
// the gate that contains x is simplified for an x within these bounds. The result equals the value
// only where the gate holds; elsewhere it is never used.
#ifndef TG_PASSES_SIMPLIFY_GATE_H_
#define TG_PASSES_SIMPLIFY_GATE_H_

#include "ir/uop.h"
#include "passes/rewrite/rule_context.h"
#include "passes/simplify/assume.h"

namespace tg {

// `value` under the assumption that `gate` holds: cheaper, or unchanged. Null if the gate is never
// true.
const UOp* SimplifyUnder(const UOp* gate, const UOp* value, RuleContext& rc);

// Adds the distinct operands of a tree of `and`s to `out`. False: there are too many.
bool SplitAnd(const UOp* gate, Clauses& out);
// The negation of `gate`; if `gate` is itself a negation, its operand.
const UOp* NotGate(const UOp* gate, RuleContext& rc);
// The conjunction of the clauses; null if there are none.
const UOp* JoinAnd(const Clauses& clauses, RuleContext& rc);

// ---- Rules
// Canonicalizes `and`: removes duplicate clauses, sorts them in structural order, joins bounds on
// one value, and simplifies each clause under the others. 0 if two clauses contradict each other.
const UOp* CanonicalAnd(const UOp* u, RuleContext& rc);
// Simplifies the position of an `index` under its gate.
const UOp* FoldGatedIndex(const UOp* u, RuleContext& rc);
// Simplifies each branch of a `where` of integers or indices under its condition.
const UOp* FoldGatedWhere(const UOp* u, RuleContext& rc);

}  // namespace tg

#endif  // TG_PASSES_SIMPLIFY_GATE_H_
