// Values of which a part stands under a gate of its own: a choice by the same gate around them is
// superfluous, and two branches that read one place under opposite gates read it once.
#ifndef TG_PASSES_SIMPLIFY_GATED_VALUES_H_
#define TG_PASSES_SIMPLIFY_GATED_VALUES_H_

#include "ir/uop.h"
#include "passes/rewrite/rule_context.h"

namespace tg {

// where(p, x, 0) is x where x is 0 without p: load a under p + load b under p & q. Of a gate of
// several clauses, what x does not imply stays.
const UOp* DropImpliedGate(const UOp* u, RuleContext& rc);
// where(p, f(load a under p), g(load a under !p)): both become one load without that gate. The
// addresses may differ where nobody looks: a under !p is b.
const UOp* JoinBranchLoads(const UOp* u, RuleContext& rc);

}  // namespace tg

#endif  // TG_PASSES_SIMPLIFY_GATED_VALUES_H_
