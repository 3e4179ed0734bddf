// Sums of ids: the part of index arithmetic that most addresses are made of, without the rules.
//
// An expression of sums, products with constants, and quotients and remainders by constants over
// nothing but the ids of loops, work-items and lanes is a sum of ids again where each quotient and
// remainder comes out even: the terms that the divisor divides make the quotient, the others stay
// below it. Its canonical form (linear.h) is what the rules would find, one node after the other.
#ifndef TG_PASSES_SIMPLIFY_ID_SUMS_H_
#define TG_PASSES_SIMPLIFY_ID_SUMS_H_

#include "passes/rewrite/engine.h"

namespace tg {

// The final form of an index expression, which `rewriter` is told; null: that is for the rules.
const UOp* SimplifyIdSum(const UOp* u, Rewriter& rewriter);

}  // namespace tg

#endif  // TG_PASSES_SIMPLIFY_ID_SUMS_H_
