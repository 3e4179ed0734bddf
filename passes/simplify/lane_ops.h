// Simplifies ops that extract, broadcast and concatenate lanes of vectors.
#ifndef TG_PASSES_SIMPLIFY_LANE_OPS_H_
#define TG_PASSES_SIMPLIFY_LANE_OPS_H_

#include "ir/uop.h"
#include "passes/rewrite/rule_context.h"

namespace tg::simplify {

// Folds a gep of a vector with known lanes (vectorize, splat or constant), of another gep, of one
// part of a cat, and of all lanes in order. Moves a gep through an elementwise op whose sources all
// have known lanes.
const UOp* FoldGep(const UOp* u, rewrite::RuleContext& rc);
// Folds a vectorize of constants, of one repeated node, and of lanes of one vector.
const UOp* FoldVectorize(const UOp* u, rewrite::RuleContext& rc);
// Folds a cat of one source, of constants, of one repeated scalar, of scalars and vectorizes, of
// lanes of one vector, and of cats.
const UOp* FoldCat(const UOp* u, rewrite::RuleContext& rc);
// Folds a splat of a constant.
const UOp* FoldSplat(const UOp* u, rewrite::RuleContext& rc);
// Replaces an elementwise op of splats by the splat of the scalar op.
const UOp* FoldOpOfSplats(const UOp* u, rewrite::RuleContext& rc);

}  // namespace tg::simplify

#endif  // TG_PASSES_SIMPLIFY_LANE_OPS_H_
