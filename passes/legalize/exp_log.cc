// exp2, log2, pow.
#include "passes/legalize/float_functions.h"
#include "passes/legalize/float_words.h"
#include "passes/legalize/function_tables.h"

namespace tg::legalize {
namespace {

// A number as the unevaluated sum of two, of which `low` is small compared with `high`.
struct Pair {
  Term high, low;
};

const FunctionTables& TablesOf(const FloatWords& w) {
  return w.scalar == Scalar::kF32 ? kTablesF32 : kTablesF64;
}

Term Clamp(Term x, double low, double high) {
  const Term above = (x < low).Choose(x.Constant(low), x);
  return (above > high).Choose(x.Constant(high), above);
}

Term Nearest(const FloatWords& w, Term x) {
  return (x + (x < 0).Choose(x.Constant(-0.5), x.Constant(0.5))).To(w.integer);
}

// Exponents at which 2^x is infinite, and 0 even when rounded.
double Overflow(const FloatWords& w) { return w.format.bias() + 2; }
double Underflow(const FloatWords& w) {
  return w.format.min_exponent() - w.format.mantissa_bits - 2;
}

// 2^(n + f) for |f| <= 1/2. The scaling by 2^n is done in two steps, since 2^n may not be a normal
// number; only the second step rounds.
Term ScaledExp2(const FloatWords& w, Term n, Term f) {
  const Term p = f.MulAdd(Polynomial(f, TablesOf(w).exp2), f.Constant(1));
  const Term half = n >> 1;
  return p * w.PowerOfTwo(half) * w.PowerOfTwo(n - half);
}

// log2 of the positive finite number with these bits, with about 1.5 times as many digits as the
// type has. Uses 2 atanh(s) with s = (m-1)/(m+1), where the significand m is between sqrt(1/2) and
// sqrt(2).
Pair Log2OfBits(const FloatWords& w, Term bits) {
  const FunctionTables& tables = TablesOf(w);
  // The bits of a subnormal number are its multiple of the smallest number, which is converted to a
  // normal number.
  const Term subnormal = bits < w.least_normal();
  bits = subnormal.Choose(bits.To(w.scalar).BitsAs(w.integer), bits);
  const int unit = w.format.min_exponent() - w.format.mantissa_bits;
  const double root = w.scalar == Scalar::kF32 ? 0x1.6a09e6p-1 : 0x1.6a09e667f3bcdp-1;
  const Term k =
      (bits - w.FromBits(bits).Constant(root).BitsAs(w.integer)) >> w.format.mantissa_bits;
  const Term m = w.FromBits(bits - (k << w.format.mantissa_bits));
  const Term e = (k + subnormal.Choose(k.Constant(unit), k.Constant(0))).To(w.scalar);

  // s as a pair: the quotient, and the remainder divided once more.
  const Term f = m - 1.0;
  const Term d = m + 1.0, d_lost = m - (d - 1.0);
  const Term d_high = w.High(d), d_low = d - d_high;
  const Term s = w.High(f.Alu(Op::kDiv, d));
  const Term s_low = (((f - s * d_high) - s * d_low) - s * d_lost).Alu(Op::kDiv, d);

  // 2/3 s^3 in two parts, then the rest of the series.
  const double third = 2.0 / 3;
  const Term z = s * s;
  const Term z_high = w.High(z);
  const Term z_low = (z - z_high) + s_low * (s + s + s_low);
  const Term cube = s * z_high;
  const Term cube_high = w.High(cube);
  const Term cube_low = (cube - cube_high) + (s * z_low + s_low * (z_high + z_low));
  const Term c_high = w.High(s.Constant(third));
  const Term c_low = s.Constant(third) - c_high;
  // The rounding error of the constant itself.
  const Term c_lost = s.Constant(w.scalar == Scalar::kF32 ? third - static_cast<float>(third)
                                                          : 0x1.5555555555555p-55);
  const Term product = cube_high * c_high;
  const Term rest = cube_high * (c_low + c_lost) + cube_low * third;
  const Term square = z_high + z_low;
  const Term series = ((s + s_low) * square) * (square * Polynomial(square, tables.log2));
  const Term two_s = s + s;
  const Term sum = two_s + product;
  const Term sum_low = (product - (sum - two_s)) + ((s_low + s_low) + (rest + series));

  // Multiplies the sum by 1/ln 2 and adds the exponent.
  constexpr double kInvLn2 = 0x1.71547652b82fep+0, kInvLn2Lost = 0x1.777d0ffda0d24p-56;
  const Term l = sum.Constant(kInvLn2), l_high = w.High(l);
  const Term l_low =
      (l - l_high) +
      (w.scalar == Scalar::kF32 ? kInvLn2 - static_cast<float>(kInvLn2) : kInvLn2Lost);
  const Term sum_high = w.High(sum);
  const Term tail = (sum - sum_high) + sum_low;
  const Term fraction = sum_high * l_high;
  const Term high = e + fraction;
  const Term low = (fraction - (high - e)) + (sum_high * l_low + tail * kInvLn2);
  return {high, low};
}

}  // namespace

Term OwnExp2(Term x) {
  const FloatWords w(x.type());
  const Term inside = Clamp(x, Underflow(w), Overflow(w));
  const Term n = Nearest(w, inside);
  return ScaledExp2(w, n, inside - n.To(w.scalar));
}

Term OwnLog2(Term x) {
  const FloatWords w(x.type());
  const Term magnitude = w.Magnitude(x);
  const Pair log = Log2OfBits(w, magnitude);
  Term y = log.high + log.low;
  // Infinity and NaN are returned unchanged.
  y = (magnitude < w.infinity()).Choose(y, x);
  y = (x.BitsAs(w.integer) < 0).Choose(x.Constant(kNotANumber), y);
  return (magnitude == 0).Choose(x.Constant(-kInfinity), y);
}

Term OwnPow(Term x, Term y) {
  const FloatWords w(x.type());
  const Term x_bits = w.Magnitude(x), y_bits = w.Magnitude(y);
  const Pair log = Log2OfBits(w, x_bits);
  const Term log_high = w.High(log.high);
  const Term log_low = (log.high - log_high) + log.low;

  // y log2|x|: an exponent beyond this one gives 0, 1 or infinity whatever the base is.
  const double limit = std::ldexp(1.0, w.scalar == Scalar::kF32 ? 36 : 70);
  const Term exponent = Clamp(y, -limit, limit);
  const Term y_high = w.High(exponent), y_low = exponent - y_high;
  const Term all = y_high * log_high + (y_low * log_high + exponent * log_low);
  const Term inside = Clamp(all, Underflow(w), Overflow(w));
  const Term n = Nearest(w, inside);
  const Term f = ((y_high * log_high - n.To(w.scalar)) + y_low * log_high) + exponent * log_low;
  Term power = ScaledExp2(w, n, Clamp(f, -1, 1));
  power = (all > Overflow(w)).Choose(x.Constant(kInfinity), power);
  power = (all < Underflow(w)).Choose(x.Constant(0.0), power);

  // Bases of 0 and infinity.
  const Term y_negative = y < 0.0;
  const Term vanishes = y_negative.Choose(x.Constant(kInfinity), x.Constant(0.0));
  const Term grows = y_negative.Choose(x.Constant(0.0), x.Constant(kInfinity));
  power = (x_bits == 0).Choose(vanishes, power);
  power = (x_bits == w.infinity()).Choose(grows, power);

  // Negative bases: NaN unless the exponent is an integer, and negative where that is odd. Numbers
  // of twice 2^mantissa_bits and above are even.
  const double even = std::ldexp(2.0, w.format.mantissa_bits);
  const Term whole = Clamp(y, -even, even).To(w.integer);
  const Term is_large = y_bits > y.Constant(even).BitsAs(w.integer);
  const Term is_whole = is_large | (whole.To(w.scalar) == y);
  const Term is_odd = ((whole & 1) != 0) & is_whole & is_large.Not();
  const Term x_negative = x.BitsAs(w.integer) < 0;
  const Term has_no_value = x_negative & (x_bits != 0) & (x_bits != w.infinity()) & is_whole.Not();
  power = has_no_value.Choose(x.Constant(kNotANumber), power);
  const Term sign = (x_negative & is_odd).Choose(whole.Constant(w.sign_bit()), whole.Constant(0));
  power = w.FromBits(power.BitsAs(w.integer) ^ sign);

  const Term is_nan = (x_bits > w.infinity()) | (y_bits > w.infinity());
  power = is_nan.Choose(x.Constant(kNotANumber), power);
  return ((y_bits == 0) | (x.BitsAs(w.integer) == x.Constant(1.0).BitsAs(w.integer)))
      .Choose(x.Constant(1.0), power);
}

}  // namespace tg::legalize
