// Legalizes integer and bool ops, so that the remaining ops mean the same in C, on every device and
// in every vector:
//  - no division has a zero divisor, or divides the least number by -1; no floor division remains;
//  - shift amounts are in range;
//  - a floor division by a power of two is a shift, and so is a truncating division of a
//  non-negative
//    value by one; the remainder is an `and`. A division of a non-negative value by another
//    constant is a multiplication and a shift if the product fits;
//  - casts from bool are selects, casts to bool comparisons, and bitcasts of bool are casts of a
//    byte; bool arithmetic is and, or, xor;
//  - mulacc on integers is a product and a sum; threefry on u64 is arithmetic on u32.
// Requires that no node has type index.
#ifndef TG_PASSES_LEGALIZE_INTEGER_H_
#define TG_PASSES_LEGALIZE_INTEGER_H_

#include <cstdint>
#include <optional>

#include "ir/builder.h"
#include "ir/module.h"

namespace tg::legalize {

// `order`: the nodes that the root reaches, sources first. `has_dot4`: dot4 stays.
void LegalizeIntegers(Body& body, const Module& module, UOpSpan order, bool has_dot4 = false);

// Splits a*b + c on index and integers, so that later steps see the product as a separate node.
void SplitIntegerMulAcc(Body& body);

// Numbers with x / d == (x * multiplier) >> shift for all 0 <= x <= max, where the product is at
// most `limit`; nullopt if there are none or d < 2. (The condition on the shift is Granlund and
// Montgomery's, with the greatest number up to max whose remainder is d - 1 instead of the greatest
// one of the type.)
struct MagicNumber {
  int64_t multiplier;
  int shift;
};
std::optional<MagicNumber> FindMagic(int64_t d, int64_t max, int64_t limit);

}  // namespace tg::legalize

#endif  // TG_PASSES_LEGALIZE_INTEGER_H_
