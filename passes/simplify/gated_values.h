// Values that contain gated loads. An enclosing `where` with the same gate is redundant, and two
// branches that load one address under opposite gates need a single load.
#ifndef TG_PASSES_SIMPLIFY_GATED_VALUES_H_
#define TG_PASSES_SIMPLIFY_GATED_VALUES_H_

#include "ir/uop.h"
#include "passes/rewrite/rule_context.h"

namespace tg::simplify {

// Replaces where(p, x, 0) by x if x is 0 whenever p is false, as is the sum of a load under p and a
// load under p & q. If the gate has several clauses, drops each clause without which x is 0.
const UOp* DropImpliedGate(const UOp* u, rewrite::RuleContext& rc);
// In where(p, f(load a under p), g(load b under !p)), replaces both loads by one without p in its
// gate. The addresses need not be equal everywhere: it suffices that a equals b where p is false,
// or that b equals a where p is true. Other clauses of the two gates must be the same, and stay.
const UOp* JoinBranchLoads(const UOp* u, rewrite::RuleContext& rc);

}  // namespace tg::simplify

#endif  // TG_PASSES_SIMPLIFY_GATED_VALUES_H_
