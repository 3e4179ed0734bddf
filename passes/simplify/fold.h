// Constant folding, and combinations of conversions.
#ifndef TG_PASSES_SIMPLIFY_FOLD_H_
#define TG_PASSES_SIMPLIFY_FOLD_H_

#include "ir/uop.h"
#include "passes/rewrite/rule_context.h"

namespace tg::simplify {

// Folds an elementwise op of constants, lane by lane, in the arithmetic of its type.
const UOp* FoldConstants(const UOp* u, rewrite::RuleContext& rc);
// Folds a reduce over the lanes of a constant vector. Floats are excluded because the target
// determines the order in which they are summed.
const UOp* FoldReduceOfConstants(const UOp* u, rewrite::RuleContext& rc);
// Folds an integer, index or bool whose bounds leave a single value.
const UOp* FoldByBounds(const UOp* u, rewrite::RuleContext& rc);
// Moves a binary op into two `where` with the same gate if one pair of their branches is constant:
// where(p, 1, x) + where(p, 2, y) -> where(p, 3, x + y). Does the same for a `where` with two
// constant branches and a constant.
const UOp* FoldIntoWhere(const UOp* u, rewrite::RuleContext& rc);
// Folds a cast to the same type, the inner of two casts if the result is the same without it, and
// a bitcast of a bitcast. Moves a cast into the branches of a `where` with a constant branch.
const UOp* FoldCast(const UOp* u, rewrite::RuleContext& rc);
// Turns a product of halves that is cast to f32 into a product of floats, if the module has
// wide-products.
const UOp* WidenProduct(const UOp* u, rewrite::RuleContext& rc);
// Turns a product with a cast bool into where(p, x, 0). For floats only if the module has zero-mul.
const UOp* FoldMulOfBool(const UOp* u, rewrite::RuleContext& rc);
// Moves an added or multiplied constant into an index that is cast to an integer, which is exact
// because the cast wraps as the integer's arithmetic does: cast(x + 1) + -1 -> cast(x). Also moves
// an added constant into an index that is cast to a float, if all values are exact in that float.
// In both cases only if bounds show that the new index fits into 32 bits.
const UOp* FoldIntoIndex(const UOp* u, rewrite::RuleContext& rc);
// Drops the addition of 0 to a float that is never -0.0 (-0.0 + 0 is 0.0), or to a float to which
// such a float is then added: (x + 0) + y*y.
const UOp* FoldAddOfZero(const UOp* u, rewrite::RuleContext& rc);
// Folds cmpne and cmplt of a constant and a bool that is cast to a number, to that bool, its
// negation or a constant.
const UOp* FoldCompareOfCast(const UOp* u, rewrite::RuleContext& rc);

}  // namespace tg::simplify

#endif  // TG_PASSES_SIMPLIFY_FOLD_H_
