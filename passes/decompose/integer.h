// Legalizes integer and bool ops, so that the remaining ops mean the same in C, on every device and
// in every vector:
//  - no division has a zero divisor, or divides the least number by -1; no floor division remains;
//  - shift amounts are in range;
//  - a division of a non-negative value by a constant is a shift, or, where the product fits, a
//    multiplication and a shift;
//  - casts from bool are selects, casts to bool comparisons; bool arithmetic is and, or, xor;
//  - mulacc on integers is a product and a sum; threefry is arithmetic on u32.
// Requires that no node has type index.
#ifndef TG_PASSES_DECOMPOSE_INTEGER_H_
#define TG_PASSES_DECOMPOSE_INTEGER_H_

#include <cstdint>
#include <optional>

#include "ir/builder.h"
#include "ir/module.h"

namespace tg {

// `order`: the nodes that the root reaches, sources first.
void ExplainIntegers(Body& body, const Module& module, UOpSpan order);

// Splits a*b + c on index and integers, so that later steps see the product as a separate node.
void SplitIntegerMulAcc(Body& body);

// x / d == (x * multiplier) >> shift for all 0 <= x <= max, with the product at most `limit`. For
// d >= 2. (The condition on the shift is Granlund and Montgomery's, with the divisor's greatest
// multiple below max instead of the type's range.)
struct MagicNumber {
  int64_t multiplier;
  int shift;
};
std::optional<MagicNumber> FindMagic(int64_t d, int64_t max, int64_t limit);

}  // namespace tg

#endif  // TG_PASSES_DECOMPOSE_INTEGER_H_
