// Bit-level access to floats, shared by the expansions of functions on f32 and f64.
#ifndef TG_PASSES_LEGALIZE_FLOAT_WORDS_H_
#define TG_PASSES_LEGALIZE_FLOAT_WORDS_H_

#include <cmath>
#include <limits>
#include <span>

#include "ir/float_format.h"
#include "passes/legalize/expression.h"

namespace tg::legalize {

// The format of f32 or f64 and the integers of its size.
struct FloatWords {
  explicit FloatWords(DType t)
      : scalar(t.scalar()),
        integer(scalar == Scalar::kF32 ? Scalar::kI32 : Scalar::kI64),
        word(scalar == Scalar::kF32 ? Scalar::kU32 : Scalar::kU64),
        format(FormatOf(scalar)) {}

  int64_t sign_bit() const { return static_cast<int64_t>(1ull << (format.bits() - 1)); }
  int64_t infinity() const {
    return ((int64_t{1} << format.exponent_bits) - 1) << format.mantissa_bits;
  }
  int64_t least_normal() const { return int64_t{1} << format.mantissa_bits; }

  // The bits of |x| as an integer; these integers have the same order as the numbers.
  Term Magnitude(Term x) const { return x.BitsAs(integer) & ~sign_bit(); }
  Term FromBits(Term bits) const { return bits.BitsAs(scalar); }
  // x with the lower half of its significand cleared; a product of two such numbers is exact.
  Term High(Term x) const {
    const int dropped = (format.mantissa_bits + 2) / 2;
    return FromBits(x.BitsAs(word) & ~((int64_t{1} << dropped) - 1));
  }
  // 2^n for an integer n within the normal numbers.
  Term PowerOfTwo(Term n) const { return FromBits((n + format.bias()) << format.mantissa_bits); }

  Scalar scalar, integer, word;
  FloatFormat format;
};

// c[0] + c[1] x + c[2] x^2 + ...
inline Term Polynomial(Term x, std::span<const double> c) {
  Term sum = x.Constant(c.back());
  for (size_t i = c.size() - 1; i-- > 0;) sum = sum.MulAdd(x, x.Constant(c[i]));
  return sum;
}

inline constexpr double kNotANumber = std::numeric_limits<double>::quiet_NaN();
inline constexpr double kInfinity = std::numeric_limits<double>::infinity();

}  // namespace tg::legalize

#endif  // TG_PASSES_LEGALIZE_FLOAT_WORDS_H_
