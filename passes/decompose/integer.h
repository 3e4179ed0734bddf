// Makes the meaning of integer and bool ops explicit, so that what is left means the same in C, on
// every device and in every vector:
//  - no division has a zero divisor, nor the least number and -1; there is no floor division;
//  - shift amounts are in range;
//  - what is known to be non-negative is divided by a constant with a shift or with a
//  multiplication
//    and a shift, where the product fits;
//  - casts from bool are selects, casts to bool comparisons; bool arithmetic is and, or, xor;
//  - mulacc on integers is a product and a sum; threefry is arithmetic on u32.
// To be called when nothing has type index any more.
#ifndef TG_PASSES_DECOMPOSE_INTEGER_H_
#define TG_PASSES_DECOMPOSE_INTEGER_H_

#include <cstdint>
#include <optional>

#include "ir/builder.h"
#include "ir/module.h"

namespace tg {

// `order`: what the root reaches, sources first.
void ExplainIntegers(Body& body, const Module& module, UOpSpan order);

// Splits a*b + c on index and integers, whose product must be looked at by itself.
void SplitIntegerMulAcc(Body& body);

// x / d == (x * multiplier) >> shift for all 0 <= x <= max, with the product at most `limit`. For
// d >= 2. (The condition on the shift is Granlund and Montgomery's, with the divisor's greatest
// multiple below max in the place of the type's range.)
struct MagicNumber {
  int64_t multiplier;
  int shift;
};
std::optional<MagicNumber> FindMagic(int64_t d, int64_t max, int64_t limit);

}  // namespace tg

#endif  // TG_PASSES_DECOMPOSE_INTEGER_H_
