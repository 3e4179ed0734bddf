// sin, by the reduction of Payne and Hanek ("Radian reduction for trigonometric functions", SIGNUM
// Newsletter 18, 1983). Only the quadrant and the fraction of x * 2/pi matter. So the bits of 2/pi
// that contribute multiples of 4 are left out, and the rest is multiplied as integers, with enough
// bits for the floats that are closest to a multiple of pi/2 (2^-30 in f32, 2^-61 in f64).
#include <iterator>
#include <vector>

#include "passes/legalize/float_functions.h"
#include "passes/legalize/float_words.h"
#include "passes/legalize/function_tables.h"

namespace tg::legalize {
namespace {

struct Reduced {
  Term quadrant;   // the number of multiples of pi/2, of which only the two lowest bits are right
  Term high, low;  // the rest, at most pi/4 in magnitude, as an unevaluated sum
};

// Words of 32 bits of 2/pi, from bit `start` of the table on, which is preceded by `zeros` words of
// zeros.
std::vector<Term> BitsOfTwoOverPi(Term start, int count, int zeros) {
  const int offsets = start.type().scalar() == Scalar::kI32 ? 8 : 64;
  std::vector<Term> words;
  const Term word = start.To(Scalar::kU32);
  const int table = static_cast<int>(std::size(kTwoOverPi));
  for (int i = 0; i < table + zeros; ++i) {
    words.push_back(word.Constant(i < zeros ? 0u : kTwoOverPi[i - zeros]));
  }
  // Shifts the words by `index`, one bit of it at a time from the highest, as a barrel shifter
  // does.
  const Term index = word >> 5;
  for (int step = offsets / 2; step > 0; step /= 2) {
    const Term moves = (index & step) != 0;
    const auto keep = std::min(words.size(), static_cast<size_t>(count + step));
    for (size_t i = 0; i < keep; ++i) {
      const size_t from = i + static_cast<size_t>(step);
      if (from < words.size()) words[i] = moves.Choose(words[from], words[i]);
    }
    words.resize(keep);
  }
  // Shifts in two steps, since a shift by 32 is undefined on devices.
  const Term by = word & 31;
  std::vector<Term> bits;
  for (size_t i = 0; i < static_cast<size_t>(count); ++i) {
    bits.push_back(((words[i] << by) | ((words[i + 1] >> 1) >> (31 - by))).To(Scalar::kU64));
  }
  return bits;
}

// significand * bits modulo 2^(32 n), as n words from the highest on, 32 bits each.
std::vector<Term> Multiply(Term significand, const std::vector<Term>& bits) {
  constexpr int64_t kLow = 0xffffffff;
  std::vector<Term> sums(bits.size(), significand.Constant(0));
  const auto add = [&](Term digit, size_t place) {
    for (size_t i = place; i < bits.size(); ++i) {
      const Term product = digit * bits[i];
      sums[i - place] = sums[i - place] + (product & kLow);
      if (i > place) sums[i - place - 1] = sums[i - place - 1] + (product >> 32);
    }
  };
  add(significand & kLow, 0);
  if (bits.size() > 3) add(significand >> 32, 1);
  for (size_t i = bits.size() - 1; i > 0; --i) {
    sums[i - 1] = sums[i - 1] + (sums[i] >> 32);
    sums[i] = sums[i] & kLow;
  }
  sums[0] = sums[0] & kLow;
  return sums;
}

// |x| as a multiple of pi/2 and a rest. `magnitude`: the bits of |x|, which is finite and at least
// pi/4.
Reduced Reduce(const FloatWords& w, Term magnitude) {
  const bool is_f32 = w.scalar == Scalar::kF32;
  const int mantissa = w.format.mantissa_bits;
  // x = significand * 2^(exponent - bias - mantissa).
  const Term significand =
      ((magnitude & (w.least_normal() - 1)) | w.least_normal()).To(Scalar::kU64);
  const Term exponent = magnitude >> mantissa;
  // The first bit is worth 2 after the product; the table's own first one is worth 1/2.
  const int zeros = is_f32 ? 1 : 2;
  const Term start = exponent + (32 * zeros - 2 - w.format.bias() - mantissa);
  const std::vector<Term> y = Multiply(significand, BitsOfTwoOverPi(start, is_f32 ? 3 : 6, zeros));

  const Term top = (y[0] << 32) | y[1];
  const Term rest = (y[2] << 32) | (is_f32 ? y[2].Constant(0) : y[3]);
  // Two bits of quadrant; the fraction after them is taken as signed.
  const Term fraction = ((top << 2) | (rest >> 62)).BitsAs(Scalar::kI64);
  const Term below = rest << 2;
  const Term round_up = (fraction < 0).Choose(top.Constant(1), top.Constant(0));
  const Term quadrant = ((top >> 62) + round_up).To(Scalar::kI32);

  // Times pi/2, in two parts of which the first product is exact.
  const Term high = w.High(fraction.To(w.scalar));
  const Term lost = (fraction - high.To(Scalar::kI64)).To(w.scalar);
  const Term low = lost + below.To(w.scalar) * 0x1p-64;
  constexpr double kPiHalf = 0x1.921fb54442d18p0, kPiHalfLost = 0x1.1a62633145c07p-54;
  const double unit = 0x1p-64;
  const Term c = high.Constant(kPiHalf * unit), c_high = w.High(c);
  const Term c_low =
      (c - c_high) + (is_f32 ? kPiHalf - static_cast<float>(kPiHalf) : kPiHalfLost) * unit;
  const Term product = high * c_high;
  const Term correction = high * c_low + low * c;
  const Term r = product + correction;
  return {quadrant, r, correction - (r - product)};
}

}  // namespace

Term OwnSin(Term x) {
  const FloatWords w(x.type());
  const FunctionTables& tables = w.scalar == Scalar::kF32 ? kTablesF32 : kTablesF64;
  const Term magnitude = w.Magnitude(x);
  const Term least = x.Constant(0x1.921fb54442d18p-1).BitsAs(w.integer);
  const Term is_small = magnitude < least;
  // Replaces x by a number that can be reduced if x itself cannot or need not be.
  const Term inside = (is_small | (magnitude > w.infinity() - 1)).Choose(least, magnitude);
  const Reduced reduced = Reduce(w, inside);
  const Term r = is_small.Choose(w.FromBits(magnitude), reduced.high);
  const Term r_low = is_small.Choose(r.Constant(0.0), reduced.low);
  const Term quadrant = is_small.Choose(reduced.quadrant.Constant(0), reduced.quadrant);

  const Term z = r * r;
  const Term half = z * 0.5;
  const Term one = 1.0 - half;
  const Term sine = r + ((r * z) * Polynomial(z, tables.sin) + r_low * one);
  const Term cosine =
      one + (((1.0 - one) - half) + ((z * z) * Polynomial(z, tables.cos) - r * r_low));
  const Term y = ((quadrant & 1) != 0).Choose(cosine, sine);

  const Term bits = x.BitsAs(w.integer);
  const Term flipped = ((quadrant & 2) != 0).Choose(bits.Constant(w.sign_bit()), bits.Constant(0));
  const Term signed_y = w.FromBits((y.BitsAs(w.integer) ^ flipped) ^ (bits & w.sign_bit()));
  return (magnitude < w.infinity()).Choose(signed_y, x.Constant(kNotANumber));
}

}  // namespace tg::legalize
