// Comparisons of sums of indices. Terms that occur on both sides cancel, common factors are divided
// out, and in `<` terms whose sum is smaller than the common divisor of the rest are dropped. The
// canonical form has the terms with positive coefficients on the left, the other terms, negated,
// and the constant on the right; the constant is on the left if no term is.
#ifndef TG_PASSES_SIMPLIFY_INDEX_COMPARISON_H_
#define TG_PASSES_SIMPLIFY_INDEX_COMPARISON_H_

#include "ir/uop.h"
#include "passes/rewrite/rule_context.h"

namespace tg::simplify {

// Simplifies cmplt and cmpne of indices.
const UOp* FoldCompareOfSums(const UOp* u, rewrite::RuleContext& rc);

// Simplifies comparisons of a sum's remainder with a constant that test for one remainder: != c,
// < 1 and < divisor - 1. If the sum, with coefficients reduced modulo the divisor to the least
// magnitude, spans fewer values than the divisor, the sum itself is compared:
// (a + b*13) % 14 < 1 -> a == b, for a and b in 0..12.
const UOp* FoldCompareOfRemainder(const UOp* u, rewrite::RuleContext& rc);

}  // namespace tg::simplify

#endif  // TG_PASSES_SIMPLIFY_INDEX_COMPARISON_H_
