// Simplifies loads and stores whose gate is known, and removes empty effects. A `noop` of type void
// without sources is an empty effect, so its users drop it.
#ifndef TG_PASSES_SIMPLIFY_MEMORY_OPS_H_
#define TG_PASSES_SIMPLIFY_MEMORY_OPS_H_

#include "ir/uop.h"
#include "passes/rewrite/rule_context.h"

namespace tg::simplify {

// Drops a true gate of an `index`.
const UOp* FoldAddress(const UOp* u, rewrite::RuleContext& rc);
// Replaces a load under a false gate by its alternative or 0. Drops the alternative of a load
// without a gate.
const UOp* FoldLoad(const UOp* u, rewrite::RuleContext& rc);
// Removes a store under a false gate and a store of the value that memory already holds, unless the
// memory is an argument of the kernel. Turns a store of a `where` one branch of which is that value
// into a gated store.
const UOp* FoldStore(const UOp* u, rewrite::RuleContext& rc);
// Turns where(g, load under g, alternative) into the load with that alternative.
const UOp* FoldWhereOfLoad(const UOp* u, rewrite::RuleContext& rc);
// Drops empty effects among the sources of after, barrier, noop and of a sink without targets.
// Replaces an `end` whose loop has no effect left by the effects before the loop, and a noop that
// only passes on a value by that value.
const UOp* DropNoops(const UOp* u, rewrite::RuleContext& rc);

}  // namespace tg::simplify

#endif  // TG_PASSES_SIMPLIFY_MEMORY_OPS_H_
