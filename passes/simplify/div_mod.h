// Quotients and remainders of sums by a constant, on indices, where `/` and `%` are floor:
//
//  - a quotient that bounds fix is a constant; so is the multiple that a remainder subtracts;
//  - multiples of the divisor leave the sum: (c*A + R) / c = A + R / c, (c*A + R) % c = R % c;
//  - a term (y % m) * a whose a*m the divisor divides needs no remainder of its own;
//  - a common factor g of terms and divisor: (g*A + k) / (g*c) = (A + k/g) / c, and
//    (g*A + k) % (g*c) = g * ((A + k/g) % c) + k % g;
//  - a factor d of the divisor under which the rest is small, d*q <= R < d*(q + 1):
//    (d*A + R) / (d*e) = (A + q) / e, and (d*A + R) % (d*e) = d * ((A + q) % e) + R - d*q;
//  - other representatives of the coefficients modulo c, where they make the sum small enough;
//  - a term with two values makes the whole linear in it.
#ifndef TG_PASSES_SIMPLIFY_DIV_MOD_H_
#define TG_PASSES_SIMPLIFY_DIV_MOD_H_

#include "ir/uop.h"
#include "passes/rewrite/rule_context.h"

namespace tg {

// floordiv and floormod of an index by a positive constant.
const UOp* FoldDivModOfSum(const UOp* u, RuleContext& rc);
// r / e, r % e and r < e for a range or special r whose end is e, whatever e is.
const UOp* FoldRangeAgainstEnd(const UOp* u, RuleContext& rc);

}  // namespace tg

#endif  // TG_PASSES_SIMPLIFY_DIV_MOD_H_
