// Division and square root of f32 in integers, rounded to nearest even.
#include "passes/legalize/float_functions.h"
#include "passes/legalize/float_words.h"

namespace tg::legalize {
namespace {

constexpr int64_t kInfinityBits = 0x7f800000;
constexpr int64_t kNanBits = 0x7fc00000;

// A positive number as significand * 2^exponent, with a significand of 24 bits.
struct Parts {
  Term significand;  // u32
  Term exponent;     // i32
};

// `magnitude`: bits of a positive finite number.
Parts Split(Term magnitude) {
  const Term subnormal = magnitude < (1 << 23);
  const Term bits = subnormal.Choose(magnitude.To(Scalar::kF32).BitsAs(Scalar::kI32), magnitude);
  const Term unit = subnormal.Choose(bits.Constant(-149), bits.Constant(0));
  return {((bits & 0x7fffff) + 0x800000).To(Scalar::kU32), (bits >> 23) - 150 + unit};
}

// The bits of q * 2^exponent, rounded once. Requires 2^25 <= q < 2^27, and that the last bit of q
// is 1 if any nonzero bit was cut off below it.
Term Round(Term q, Term exponent) {
  const Term normal = (q < (1 << 26)).Choose(exponent.Constant(2), exponent.Constant(3));
  const Term least = -149 - exponent;
  const Term shift = normal.Alu(Op::kMax, least).Alu(Op::kMin, normal.Constant(29));
  const Term by = shift.To(Scalar::kU32);
  const Term odd = (q >> by) & 1;
  const Term rounded = (q + ((q.Constant(1) << (by - 1)) - 1) + odd) >> by;
  // The biased exponent less 1: the leading bit of the significand is added to the exponent's field
  // and makes up for it.
  const Term biased = exponent + shift + 149;
  const Term place = biased.Alu(Op::kMax, biased.Constant(0)).Alu(Op::kMin, biased.Constant(254));
  const Term bits = (place << 23) + rounded.BitsAs(Scalar::kI32);
  return bits.Alu(Op::kMin, bits.Constant(kInfinityBits));
}

}  // namespace

Term OwnDivide(Term x, Term y) {
  const FloatWords w(x.type());
  const Term a = w.Magnitude(x), b = w.Magnitude(y);
  const Term sign = (x.BitsAs(w.integer) ^ y.BitsAs(w.integer)) & w.sign_bit();
  const Parts n = Split(a), d = Split(b);
  const Term dividend = n.significand.To(Scalar::kU64) << 26;
  const Term divisor = d.significand.To(Scalar::kU64);
  const Term q = dividend.Alu(Op::kCDiv, divisor);
  const Term inexact = (q * divisor != dividend).Choose(q.Constant(1), q.Constant(0));
  Term bits = Round((q | inexact).To(Scalar::kU32), n.exponent - d.exponent - 26);

  const Term zero = bits.Constant(0), infinity = bits.Constant(kInfinityBits);
  bits = ((a == 0) | (b == kInfinityBits)).Choose(zero, bits);
  bits = ((b == 0) | (a == kInfinityBits)).Choose(infinity, bits);
  const Term has_no_value = (a > kInfinityBits) | (b > kInfinityBits) | ((a == 0) & (b == 0)) |
                            ((a == kInfinityBits) & (b == kInfinityBits));
  return w.FromBits(has_no_value.Choose(bits.Constant(kNanBits), bits | sign));
}

Term OwnSqrt(Term x) {
  const FloatWords w(x.type());
  const Term bits = x.BitsAs(w.integer);
  const Term magnitude = w.Magnitude(x);
  const Parts parts = Split(magnitude);
  // Shifts the significand to 51 or 52 bits, whichever makes the exponent even. The root of that
  // has 26 bits.
  const Term even = (parts.exponent & 1) == 0;
  const Term shift = even.Choose(parts.exponent.Constant(28), parts.exponent.Constant(27));
  const Term square = parts.significand.To(Scalar::kU64) << shift.To(Scalar::kU64);
  const Term exponent = (parts.exponent - shift) >> 1;
  // Starts from the device's root minus its possible error, then adds the missing bits one by one.
  Term root = square.To(Scalar::kF32).Alu(Op::kSqrt).To(Scalar::kU64) - 128;
  for (int step = 128; step > 0; step /= 2) {
    const Term next = root + step;
    root = (square < next * next).Choose(root, next);
  }
  const Term inexact = (root * root != square).Choose(root.Constant(1), root.Constant(0));
  const Term y = Round((root | inexact).To(Scalar::kU32), exponent);

  // Zeros, infinity and NaN are returned unchanged.
  const Term is_itself = (magnitude == 0) | (bits > kInfinityBits - 1);
  const Term below = is_itself.Choose(bits, y);
  const Term has_no_value = (bits < 0) & (magnitude != 0);
  return w.FromBits(has_no_value.Choose(bits.Constant(kNanBits), below));
}

}  // namespace tg::legalize
