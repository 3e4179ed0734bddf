// Constants: what is computed at compile time, and how conversions combine.
#ifndef TG_PASSES_SIMPLIFY_FOLD_H_
#define TG_PASSES_SIMPLIFY_FOLD_H_

#include "ir/uop.h"
#include "passes/rewrite/rule_context.h"

namespace tg {

// An elementwise op of constants, lane by lane, in the arithmetic of its type.
const UOp* FoldConstants(const UOp* u, RuleContext& rc);
// A reduce of lanes of constants, floats excepted: the order of their sums is the target's.
const UOp* FoldReduceOfConstants(const UOp* u, RuleContext& rc);
// An integer, index or bool that bounds leave one value.
const UOp* FoldByBounds(const UOp* u, RuleContext& rc);
// A binary op of two `where` with one gate, or of one and a constant, where branches become
// constants: where(p, 1, x) + where(p, 2, y) -> where(p, 3, x + y).
const UOp* FoldIntoWhere(const UOp* u, RuleContext& rc);
// cast: to the same type; of a cast that kept all values or, among integers, all bits; of a bool
// that was cast; into the branches of a `where` with a constant branch. bitcast of a bitcast.
const UOp* FoldCast(const UOp* u, RuleContext& rc);
// A product with a bool that was cast: where(p, x, 0). Of floats where the module has zero-mul.
const UOp* FoldMulOfBool(const UOp* u, RuleContext& rc);
// A constant added to an index that was cast to an integer, or multiplied with it: casts wrap as
// the integer's arithmetic does, so the index can take it. cast(x + 1) + -1 -> cast(x). Added to
// one that was cast to a float, where that has all numbers in question.
const UOp* FoldIntoIndex(const UOp* u, RuleContext& rc);
// 0 added to a float that is never -0.0, or to one to which such a float is added: (x + 0) + y*y.
const UOp* FoldAddOfZero(const UOp* u, RuleContext& rc);
// cmpne or cmplt of a bool cast to a number, and a constant.
const UOp* FoldCompareOfCast(const UOp* u, RuleContext& rc);

}  // namespace tg

#endif  // TG_PASSES_SIMPLIFY_FOLD_H_
