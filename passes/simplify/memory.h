// Loads and stores whose gate is known, and effects that vanish. A `noop` without a value is an
// effect that does nothing; whoever waits for it forgets it.
#ifndef TG_PASSES_SIMPLIFY_MEMORY_H_
#define TG_PASSES_SIMPLIFY_MEMORY_H_

#include "ir/uop.h"
#include "passes/rewrite/rule_context.h"

namespace tg {

// pick: of a known number.
const UOp* FoldPick(const UOp* u, RuleContext& rc);
// index: a gate that is true goes.
const UOp* FoldAddress(const UOp* u, RuleContext& rc);
// load: under a gate that is false it is its alternative or 0; without a gate it needs none.
const UOp* FoldLoad(const UOp* u, RuleContext& rc);
// store: nothing under a gate that is false, or of what is there anyway; of a `where` that keeps
// what is there, a gated store.
const UOp* FoldStore(const UOp* u, RuleContext& rc);
// where(g, load under g, alternative) is the load with that alternative.
const UOp* FoldWhereOfLoad(const UOp* u, RuleContext& rc);
// end, after, barrier, sink, noop: of effects that do nothing.
const UOp* DropNoops(const UOp* u, RuleContext& rc);

}  // namespace tg

#endif  // TG_PASSES_SIMPLIFY_MEMORY_H_
