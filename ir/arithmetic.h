// Arithmetic on int64_t that C++ has not.
#ifndef TG_IR_ARITHMETIC_H_
#define TG_IR_ARITHMETIC_H_

#include <cstdint>

namespace tg {

// Towards minus infinity. `b` is neither 0 nor, for the smallest `a`, -1.
constexpr int64_t FloorDiv(int64_t a, int64_t b) {
  return a / b - (a % b != 0 && (a < 0) != (b < 0));
}
// Of b's sign.
constexpr int64_t FloorMod(int64_t a, int64_t b) {
  const int64_t r = a % b;
  return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}

// Of sizes, none of them negative: what 64 bits do not hold is INT64_MAX.
constexpr int64_t SaturatingAdd(int64_t a, int64_t b) {
  int64_t sum = 0;
  return __builtin_add_overflow(a, b, &sum) ? INT64_MAX : sum;
}
constexpr int64_t SaturatingMul(int64_t a, int64_t b) {
  int64_t product = 0;
  return __builtin_mul_overflow(a, b, &product) ? INT64_MAX : product;
}

}  // namespace tg

#endif  // TG_IR_ARITHMETIC_H_
