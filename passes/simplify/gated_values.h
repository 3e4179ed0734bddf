// Values that contain gated loads. An enclosing `where` with the same gate is redundant, and two
// branches that load one address under opposite gates need a single load.
#ifndef TG_PASSES_SIMPLIFY_GATED_VALUES_H_
#define TG_PASSES_SIMPLIFY_GATED_VALUES_H_

#include "ir/uop.h"
#include "passes/rewrite/rule_context.h"

namespace tg {

// Replaces where(p, x, 0) by x if x is 0 whenever p is false: load a under p + load b under p & q.
// If the gate has several clauses, only the clauses that x implies are dropped.
const UOp* DropImpliedGate(const UOp* u, RuleContext& rc);
// In where(p, f(load a under p), g(load b under !p)), joins both loads into one without the gate.
// It suffices that b equals a where p is false, because the load of b is not used elsewhere.
const UOp* JoinBranchLoads(const UOp* u, RuleContext& rc);

}  // namespace tg

#endif  // TG_PASSES_SIMPLIFY_GATED_VALUES_H_
