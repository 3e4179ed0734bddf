#include "ir/value.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "ir/float_format.h"

namespace tg {
namespace {

uint64_t Narrow(const FloatFormat& f, double v) {
  const uint64_t bits = std::bit_cast<uint64_t>(v);
  const uint64_t sign = (bits >> 63) << (f.bits() - 1);
  const uint64_t exponent_ones = ((1ull << f.exponent_bits) - 1) << f.mantissa_bits;
  const uint64_t nan = f.has_inf ? exponent_ones | 1ull << (f.mantissa_bits - 1)
                                 : exponent_ones | ((1ull << f.mantissa_bits) - 1);
  if (std::isnan(v)) {
    // Keep as much of the payload as fits; f32 goes there and back without loss.
    const uint64_t payload = (bits & ((1ull << 52) - 1)) >> (52 - f.mantissa_bits);
    return sign | (f.has_inf ? nan | payload : nan);
  }
  const uint64_t overflow = f.has_inf ? exponent_ones : nan;
  if (std::isinf(v)) return sign | overflow;
  const double magnitude = std::fabs(v);
  if (magnitude == 0) return sign;
  int e = 0;
  std::frexp(magnitude, &e);  // magnitude = m * 2^e with m in [0.5, 1)
  const int exponent = std::max(e - 1, f.min_exponent());
  // In units of the last place; nearbyint rounds to nearest even and the value is exact in a
  // double.
  const double scaled = std::nearbyint(std::ldexp(magnitude, f.mantissa_bits - exponent));
  uint64_t mantissa = static_cast<uint64_t>(scaled);
  uint64_t result = 0;
  if (mantissa < (1ull << f.mantissa_bits)) {
    result = mantissa;  // subnormal
  } else {
    // A carry out of the mantissa goes on into the exponent by addition.
    result = (static_cast<uint64_t>(exponent + f.bias() - 1) << f.mantissa_bits) + mantissa;
  }
  const uint64_t largest = f.has_inf ? exponent_ones - 1 : nan - 1;
  return sign | (result > largest ? overflow : result);
}

double Widen(const FloatFormat& f, uint64_t bits) {
  const uint64_t mantissa = bits & ((1ull << f.mantissa_bits) - 1);
  const int exponent = static_cast<int>(bits >> f.mantissa_bits) & ((1 << f.exponent_bits) - 1);
  const bool negative = bits >> (f.bits() - 1) & 1;
  const int ones = (1 << f.exponent_bits) - 1;
  double v = 0;
  if (exponent == ones && (f.has_inf || mantissa == (1ull << f.mantissa_bits) - 1)) {
    if (mantissa == 0) {
      v = std::numeric_limits<double>::infinity();
    } else {
      const uint64_t payload = mantissa << (52 - f.mantissa_bits) | 1ull << 51;
      return std::bit_cast<double>(uint64_t{negative} << 63 | 0x7ffull << 52 | payload);
    }
  } else if (exponent == 0) {
    v = std::ldexp(static_cast<double>(mantissa), f.min_exponent() - f.mantissa_bits);
  } else {
    v = std::ldexp(static_cast<double>(mantissa | 1ull << f.mantissa_bits),
                   exponent - f.bias() - f.mantissa_bits);
  }
  return negative ? -v : v;
}

int64_t SaturateToInt(Scalar s, double v) {
  if (std::isnan(v)) return 0;
  v = std::trunc(v);
  const int bits = BitWidth(s);
  if (IsUnsigned(s)) {
    if (v <= 0) return 0;
    if (v >= std::ldexp(1.0, bits)) return MaxValue(s);
    return static_cast<int64_t>(static_cast<uint64_t>(v));
  }
  if (v < -std::ldexp(1.0, bits - 1)) return MinValue(s);
  if (v >= std::ldexp(1.0, bits - 1)) return MaxValue(s);
  return static_cast<int64_t>(v);
}

// Rounds an integer that a double may not hold to a float format: the sticky bit keeps the second
// rounding exact.
double StickyDouble(uint64_t magnitude, bool negative) {
  double v = 0;
  if (magnitude >> 53) {
    const int shift = 11 - std::countl_zero(magnitude);  // leaves 53 bits
    const uint64_t rest = magnitude & ((1ull << shift) - 1);
    v = std::ldexp(static_cast<double>(magnitude >> shift | (rest != 0)), shift);
  } else {
    v = static_cast<double>(magnitude);
  }
  return negative ? -v : v;
}

}  // namespace

int64_t WrapInt(Scalar s, int64_t v) {
  const int shift = 64 - BitWidth(s);
  if (s == Scalar::kIndex || shift == 0) return v;
  if (IsUnsigned(s)) return static_cast<int64_t>(static_cast<uint64_t>(v) << shift >> shift);
  return static_cast<int64_t>(static_cast<uint64_t>(v) << shift) >> shift;
}

int64_t BitsFromDouble(Scalar s, double v) {
  if (s == Scalar::kF64) return std::bit_cast<int64_t>(v);
  if (s == Scalar::kF32) return std::bit_cast<uint32_t>(static_cast<float>(v));
  if (IsFloat(s)) return static_cast<int64_t>(Narrow(FormatOf(s), v));
  if (s == Scalar::kBool) return v != 0;
  return SaturateToInt(s, v);
}

int64_t BitsFromInt(Scalar s, int64_t v) {
  if (s == Scalar::kBool) return v != 0;
  if (s == Scalar::kF64) return std::bit_cast<int64_t>(static_cast<double>(v));
  if (s == Scalar::kF32) return std::bit_cast<uint32_t>(static_cast<float>(v));
  if (IsFloat(s)) {
    const uint64_t magnitude = v < 0 ? -static_cast<uint64_t>(v) : static_cast<uint64_t>(v);
    return static_cast<int64_t>(Narrow(FormatOf(s), StickyDouble(magnitude, v < 0)));
  }
  return WrapInt(s, v);
}

int64_t BitsFromUnsigned(Scalar s, uint64_t v) {
  if (s == Scalar::kF64) return std::bit_cast<int64_t>(static_cast<double>(v));
  if (IsFloat(s)) return static_cast<int64_t>(Narrow(FormatOf(s), StickyDouble(v, false)));
  return BitsFromInt(s, static_cast<int64_t>(v));
}

double DoubleFromBits(Scalar s, int64_t bits) {
  if (s == Scalar::kF64) return std::bit_cast<double>(bits);
  if (s == Scalar::kF32) return std::bit_cast<float>(static_cast<uint32_t>(bits));
  if (IsFloat(s)) return Widen(FormatOf(s), static_cast<uint64_t>(bits));
  if (s == Scalar::kU64) return static_cast<double>(static_cast<uint64_t>(bits));
  return static_cast<double>(bits);
}

int64_t CastBits(Scalar from, Scalar to, int64_t bits) {
  if (from == to) return bits;
  if (IsFloat(from)) return BitsFromDouble(to, DoubleFromBits(from, bits));
  if (IsUnsigned(from)) return BitsFromUnsigned(to, static_cast<uint64_t>(bits));
  return BitsFromInt(to, bits);
}

int64_t BitcastBits(Scalar from, Scalar to, int64_t bits) {
  const int width = BitWidth(to);
  if (width != 64 && IsFloat(to)) {
    return static_cast<int64_t>(static_cast<uint64_t>(bits) & ((1ull << width) - 1));
  }
  if (to == Scalar::kBool) return bits & 0xff ? 1 : 0;
  (void)from;
  return WrapInt(to, bits);
}

int64_t MinValue(Scalar s) {
  if (s == Scalar::kFp8E4M3) return 0xfe;  // has no infinity: -448
  if (IsFloat(s)) return BitsFromDouble(s, -std::numeric_limits<double>::infinity());
  if (s == Scalar::kBool || IsUnsigned(s)) return 0;
  return static_cast<int64_t>(~0ull << (BitWidth(s) - 1));
}

int64_t MaxValue(Scalar s) {
  if (s == Scalar::kFp8E4M3) return 0x7e;
  if (IsFloat(s)) return BitsFromDouble(s, std::numeric_limits<double>::infinity());
  if (s == Scalar::kBool) return 1;
  if (IsUnsigned(s)) return WrapInt(s, -1);
  return static_cast<int64_t>(~0ull >> (65 - BitWidth(s)));
}

}  // namespace tg
