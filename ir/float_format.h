// The binary formats of the float types: THE table of their exponent and mantissa bits.
#ifndef TG_IR_FLOAT_FORMAT_H_
#define TG_IR_FLOAT_FORMAT_H_

#include "base/check.h"
#include "ir/dtype.h"

namespace tg {

// A sign bit, then the exponent, then the mantissa without its leading one.
struct FloatFormat {
  int exponent_bits;
  int mantissa_bits;
  // Whether the format has an infinity. If not (fp8e4m3), the largest pattern is the only NaN, and
  // values that are too large round to it.
  bool has_inf;

  constexpr int bias() const { return (1 << (exponent_bits - 1)) - 1; }
  // The exponent of the least normal number.
  constexpr int min_exponent() const { return 1 - bias(); }
  constexpr int bits() const { return 1 + exponent_bits + mantissa_bits; }
};

// The format of a float type.
constexpr FloatFormat FormatOf(Scalar s) {
  switch (s) {
    case Scalar::kFp8E4M3:
      return {4, 3, false};
    case Scalar::kFp8E5M2:
      return {5, 2, true};
    case Scalar::kF16:
      return {5, 10, true};
    case Scalar::kBF16:
      return {8, 7, true};
    case Scalar::kF32:
      return {8, 23, true};
    case Scalar::kF64:
      return {11, 52, true};
    default:
      TG_UNREACHABLE();
  }
}

}  // namespace tg

#endif  // TG_IR_FLOAT_FORMAT_H_
