// Constant folding, and combinations of conversions.
#ifndef TG_PASSES_SIMPLIFY_FOLD_H_
#define TG_PASSES_SIMPLIFY_FOLD_H_

#include "ir/uop.h"
#include "passes/rewrite/rule_context.h"

namespace tg {

// Folds an elementwise op of constants, lane by lane, in the arithmetic of its type.
const UOp* FoldConstants(const UOp* u, RuleContext& rc);
// Folds a reduce of the lanes of a constant. Floats are excluded because the target determines the
// order of their sums.
const UOp* FoldReduceOfConstants(const UOp* u, RuleContext& rc);
// Folds an integer, index or bool whose bounds leave a single value.
const UOp* FoldByBounds(const UOp* u, RuleContext& rc);
// Moves a binary op into two `where` with the same gate, or into a `where` and a constant, if some
// branches become constants: where(p, 1, x) + where(p, 2, y) -> where(p, 3, x + y).
const UOp* FoldIntoWhere(const UOp* u, RuleContext& rc);
// Folds a cast to the same type, a cast of a cast that keeps all values or (among integers) all
// bits, a cast of a cast bool, and a bitcast of a bitcast. Moves a cast into the branches of a
// `where` with a constant branch.
const UOp* FoldCast(const UOp* u, RuleContext& rc);
// Turns a product with a cast bool into where(p, x, 0). For floats only if the module has zero-mul.
const UOp* FoldMulOfBool(const UOp* u, RuleContext& rc);
// Moves an added or multiplied constant into an index that is cast to an integer, which is exact
// because the cast wraps as the integer's arithmetic does: cast(x + 1) + -1 -> cast(x). Also moves
// an added constant into an index that is cast to a float, if all values are exact in that float.
const UOp* FoldIntoIndex(const UOp* u, RuleContext& rc);
// Drops the addition of 0 to a float that is never -0.0, or to a float to which such a float is
// then added: (x + 0) + y*y.
const UOp* FoldAddOfZero(const UOp* u, RuleContext& rc);
// Folds cmpne and cmplt of a constant and a bool that is cast to a number.
const UOp* FoldCompareOfCast(const UOp* u, RuleContext& rc);

}  // namespace tg

#endif  // TG_PASSES_SIMPLIFY_FOLD_H_
