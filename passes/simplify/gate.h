// What a gate says about what stands under it. A clause such as x < 5 bounds x; where the value
// under the gate has an x, it is simplified for an x within those bounds. The result is the same
// only where the gate holds, which is where anybody looks.
#ifndef TG_PASSES_SIMPLIFY_GATE_H_
#define TG_PASSES_SIMPLIFY_GATE_H_

#include "ir/uop.h"
#include "passes/rewrite/rule_context.h"
#include "passes/simplify/assume.h"

namespace tg {

// `value` where `gate` holds: cheaper, or unchanged. Null where the gate cannot hold.
const UOp* SimplifyUnder(const UOp* gate, const UOp* value, RuleContext& rc);

// The operands of a tree of `and`s, once each, are added to `out`; false: too many.
bool SplitAnd(const UOp* gate, Clauses& out);
// What holds where `gate` does not: what it is the negation of, or a negation.
const UOp* NotGate(const UOp* gate, RuleContext& rc);
// All of them, null of none.
const UOp* JoinAnd(const Clauses& clauses, RuleContext& rc);

// ---- Rules
// and: clauses once each, in structural order, bounds on one value joined, each clause simplified
// under the others; 0 where two contradict.
const UOp* CanonicalAnd(const UOp* u, RuleContext& rc);
// index: the position under the gate.
const UOp* FoldGatedIndex(const UOp* u, RuleContext& rc);
// where of integers or indices: each branch under its condition.
const UOp* FoldGatedWhere(const UOp* u, RuleContext& rc);

}  // namespace tg

#endif  // TG_PASSES_SIMPLIFY_GATE_H_
