// Comparisons of sums of indices: terms that occur on both sides cancel, common factors divide out,
// what is smaller than the grain of the rest drops out, and the rest gets one form: terms with
// positive coefficients on the left, the others and the constant on the right; with none on the
// left, the constant is.
#ifndef TG_PASSES_SIMPLIFY_COMPARE_H_
#define TG_PASSES_SIMPLIFY_COMPARE_H_

#include "ir/uop.h"
#include "passes/rewrite/rule_context.h"

namespace tg {

// cmplt and cmpne of indices.
const UOp* FoldCompareOfSums(const UOp* u, RuleContext& rc);

// A remainder of a sum by a number that is, or is not, one number: where the sum, with coefficients
// modulo the divisor, stays nearer to 0 than that, it is compared itself.
// (a + b*13) % 14 < 1 -> a == b, for a and b in 0..12
const UOp* FoldCompareOfRemainder(const UOp* u, RuleContext& rc);

}  // namespace tg

#endif  // TG_PASSES_SIMPLIFY_COMPARE_H_
