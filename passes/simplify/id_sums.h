// A fast path for sums of ids, the form of most addresses, that bypasses the rules.
//
// Consider an expression of sums, products with constants, and quotients and remainders by
// constants over only constants and the ids of loops, work-items and lanes. It is affine in the ids
// if in each quotient and remainder the terms that are not multiples of the divisor sum to a value
// in 0..divisor-1. Its canonical form (affine_sums.h) is the one that the rules would reach step by
// step.
#ifndef TG_PASSES_SIMPLIFY_ID_SUMS_H_
#define TG_PASSES_SIMPLIFY_ID_SUMS_H_

#include "passes/rewrite/engine.h"

namespace tg::simplify {

// The final form of a scalar index expression, which is also recorded in `rewriter`. Null if the
// expression is not known to be such a sum; then it needs the rules.
const UOp* SimplifyIdSum(const UOp* u, rewrite::Rewriter& rewriter);

}  // namespace tg::simplify

#endif  // TG_PASSES_SIMPLIFY_ID_SUMS_H_
