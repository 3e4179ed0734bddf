// Arithmetic on int64_t that C++ lacks.
#ifndef TG_BASE_ARITHMETIC_H_
#define TG_BASE_ARITHMETIC_H_

#include <cstdint>

namespace tg {

// Rounds toward minus infinity. `b` is not 0, and not -1 for the smallest `a`.
constexpr int64_t FloorDiv(int64_t a, int64_t b) {
  return a / b - (a % b != 0 && (a < 0) != (b < 0));
}
// Rounds toward infinity; `a` and `b` as above.
constexpr int64_t CeilDiv(int64_t a, int64_t b) { return -FloorDiv(-a, b); }
// The least multiple of `b` that is not less than `a`.
constexpr int64_t RoundUp(int64_t a, int64_t b) { return CeilDiv(a, b) * b; }
// The remainder with the sign of `b`.
constexpr int64_t FloorMod(int64_t a, int64_t b) {
  const int64_t r = a % b;
  return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}

// Sums and products of sizes, which are not negative. INT64_MAX on overflow.
constexpr int64_t SaturatingAdd(int64_t a, int64_t b) {
  int64_t sum = 0;
  return __builtin_add_overflow(a, b, &sum) ? INT64_MAX : sum;
}
constexpr int64_t SaturatingMul(int64_t a, int64_t b) {
  int64_t product = 0;
  return __builtin_mul_overflow(a, b, &product) ? INT64_MAX : product;
}

}  // namespace tg

#endif  // TG_BASE_ARITHMETIC_H_
