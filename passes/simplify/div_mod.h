// Quotients and remainders of sums by a constant, on indices, where `/` and `%` are floor:
//
//  - if bounds determine the quotient, it is a constant, and the remainder is the sum minus a
//    constant;
//  - multiples of the divisor leave the sum: (c*A + R) / c = A + R / c, (c*A + R) % c = R % c;
//  - inside a remainder, a term (y % m) * a becomes y * a if the divisor divides a*m;
//  - a common factor g of terms and divisor cancels: (g*A + k) / (g*c) = (A + k/g) / c, and
//    (g*A + k) % (g*c) = g * ((A + k/g) % c) + k % g;
//  - if R is small for a factor d of the divisor, d*q <= R < d*(q + 1):
//    (d*A + R) / (d*e) = (A + q) / e, and (d*A + R) % (d*e) = d * ((A + q) % e) + R - d*q;
//  - other representatives of the coefficients modulo c are used if they make the sum small enough;
//  - if the sum has a single term, and that has only two values, the result is affine in it.
#ifndef TG_PASSES_SIMPLIFY_DIV_MOD_H_
#define TG_PASSES_SIMPLIFY_DIV_MOD_H_

#include <span>

#include "ir/uop.h"
#include "passes/rewrite/rule_context.h"
#include "passes/simplify/polynomial.h"

namespace tg::simplify {

// Simplifies floordiv and floormod of an index by a constant greater than 1. Null if nothing
// applies.
const UOp* FoldDivModOfSum(const UOp* u, rewrite::RuleContext& rc);
// Simplifies x / y and x % y of scalar indices for a positive y that is no constant, by polynomial
// division: with x = q*y + r, the quotient is q + r / y and the remainder r % y. If 0 <= r < y is
// proven, with the symbolic ends of ranges, they are q and r.
const UOp* FoldSymbolicDivMod(const UOp* u, rewrite::RuleContext& rc);
// The same where none of `facts` is negative; y need not be positive elsewhere.
const UOp* FoldSymbolicDivMod(const UOp* u, std::span<const Polynomial> facts,
                              rewrite::RuleContext& rc);
// Simplifies r / e, r % e and r < e for a range or special r whose end is any expression e.
const UOp* FoldRangeAgainstEnd(const UOp* u, rewrite::RuleContext& rc);

}  // namespace tg::simplify

#endif  // TG_PASSES_SIMPLIFY_DIV_MOD_H_
