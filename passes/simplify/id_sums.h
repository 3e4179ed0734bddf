// A fast path for sums of ids, the form of most addresses, that bypasses the rules.
//
// Consider an expression of sums, products with constants, and quotients and remainders by
// constants over only the ids of loops, work-items and lanes. It is again a sum of ids if in each
// quotient and remainder the terms that are not multiples of the divisor sum to less than the
// divisor. Its canonical form (affine_expr.h) is the one that the rules would reach step by step.
#ifndef TG_PASSES_SIMPLIFY_ID_SUMS_H_
#define TG_PASSES_SIMPLIFY_ID_SUMS_H_

#include "passes/rewrite/engine.h"

namespace tg {

// The final form of an index expression, which is also recorded in `rewriter`. Null: the expression
// has another form and needs the rules.
const UOp* SimplifyIdSum(const UOp* u, Rewriter& rewriter);

}  // namespace tg

#endif  // TG_PASSES_SIMPLIFY_ID_SUMS_H_
