// Vectors: lanes that are picked, repeated and put together again.
#ifndef TG_PASSES_SIMPLIFY_LANES_H_
#define TG_PASSES_SIMPLIFY_LANES_H_

#include "ir/uop.h"
#include "passes/rewrite/rule_context.h"

namespace tg {

// gep of what is made of known lanes, of another gep, of all lanes in order; through an elementwise
// op whose sources are made of known lanes.
const UOp* FoldGep(const UOp* u, RuleContext& rc);
// vectorize of constants, of one node, of lanes of one vector.
const UOp* FoldVectorize(const UOp* u, RuleContext& rc);
// cat of one, of constants, of a repeated scalar, of scalars, of lanes of one vector, of cats.
const UOp* FoldCat(const UOp* u, RuleContext& rc);
// splat of a constant.
const UOp* FoldSplat(const UOp* u, RuleContext& rc);
// An elementwise op of repeated scalars is the repeated op.
const UOp* FoldOpOfSplats(const UOp* u, RuleContext& rc);

}  // namespace tg

#endif  // TG_PASSES_SIMPLIFY_LANES_H_
