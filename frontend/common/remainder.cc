// The remainder of floats, exactly: x - q y for the whole q next to x/y toward zero, of any size.
//
// With x = m 2^e and y = n 2^f for integers m and n and e >= f, the remainder is
// (m 2^(e-f) mod n) 2^f. The power is taken modulo n, a bit of its exponent at a time.
#include "frontend/common/graph_builder.h"
#include "frontend/common/of_float.h"

namespace tg::frontend {
namespace {

constexpr Scalar kWord = Scalar::kU64;

struct Format {
  int significand_bits;  // with the leading one
  int exponent_bits;
  int64_t infinity;  // its bits
};
Format FormatFor(Value v) {
  if (v->dtype.scalar() == Scalar::kF64) return {53, 11, int64_t{0x7ff} << 52};
  return {24, 8, int64_t{0xff} << 23};
}

class Modular {
 public:
  Modular(GraphBuilder& g, const Format& f, Value modulus) : g_(g), f_(f), modulus_(modulus) {}

  Value Number(int64_t n) { return g_.ConstInt(kWord, n); }
  Value Reduce(Value a) { return g_.Binary(Op::kCMod, a, modulus_); }
  // a * b for a and b below the modulus, in pieces of b that keep the products within 64 bits.
  Value Mul(Value a, Value b) {
    const int piece = 63 - f_.significand_bits, bits = f_.significand_bits;
    if (bits <= 32) return Reduce(g_.Mul(a, b));
    Value product = nullptr;
    for (int at = (bits - 1) / piece * piece; at >= 0; at -= piece) {
      const Value digit = g_.And(g_.Binary(Op::kShr, b, Number(at)), Number((1 << piece) - 1));
      const Value term = g_.Mul(a, digit);
      product = Reduce(product ? g_.Add(g_.Binary(Op::kShl, product, Number(piece)), term) : term);
    }
    return product;
  }
  // 2^n, where n has as many bits as an exponent.
  Value PowerOfTwo(Value n) {
    Value power = Reduce(Number(1));
    for (int bit = f_.exponent_bits - 1; bit >= 0; --bit) {
      if (bit < f_.exponent_bits - 1) power = Mul(power, power);
      const Value is_set = g_.And(g_.Binary(Op::kShr, n, Number(bit)), Number(1));
      power = Reduce(g_.Binary(Op::kShl, power, is_set));
    }
    return power;
  }

 private:
  GraphBuilder& g_;
  const Format f_;
  const Value modulus_;
};

struct Parts {
  Value significand;  // an integer
  Value exponent;     // biased; 1 for a subnormal number
};

Parts Split(GraphBuilder& g, const Format& f, Value bits) {
  const auto number = [&](int64_t n) { return g.ConstInt(kWord, n); };
  const int64_t leading = int64_t{1} << (f.significand_bits - 1);
  const Value field = g.Binary(Op::kShr, bits, number(f.significand_bits - 1));
  const Value fraction = g.And(bits, number(leading - 1));
  const Value is_normal = g.Ne(field, number(0));
  return {g.Where(is_normal, g.Or(fraction, number(leading)), fraction),
          g.Where(is_normal, field, number(1))};
}

}  // namespace

Value GraphBuilder::Fmod(Value a, Value b) {
  if (!a || !b) return nullptr;
  if (!a->dtype.is_float()) return Fail("a remainder of floats of " + Describe(a));
  const Scalar type = a->dtype.scalar();
  const Value x = Widen(a), y = Widen(b);
  const Scalar wide = x->dtype.scalar(), bits = BitsType(wide);
  const Format f = FormatFor(x);
  const auto number = [&](int64_t n) { return ConstInt(kWord, n); };
  const Value x_bits = Cast(Bitcast(Abs(x), bits), kWord);
  const Value y_bits = Cast(Bitcast(Abs(y), bits), kWord);
  const Parts m = Split(*this, f, x_bits), n = Split(*this, f, y_bits);
  // Where x is smaller the difference wraps, and the result is x.
  Modular modular(*this, f, n.significand);
  const Value power = modular.PowerOfTwo(Sub(m.exponent, n.exponent));
  const Value rest = modular.Mul(power, modular.Reduce(m.significand));

  // rest * 2^exponent in two steps, of which neither overflows or, but for the last, underflows.
  const int64_t bias = (int64_t{1} << (f.exponent_bits - 1)) - 1, shift = f.significand_bits - 1;
  const Value biased = Add(n.exponent, number(bias - shift));  // a sum of the steps' exponents
  const Value first = Binary(Op::kShr, biased, number(1)), second = Sub(biased, first);
  const auto scale = [&](Value exponent) {
    return Bitcast(Cast(Binary(Op::kShl, exponent, number(shift)), bits), wide);
  };
  const Value magnitude = Mul(Mul(Cast(rest, wide), scale(first)), scale(second));
  Value r = CopySign(magnitude, x);
  r = Where(Lt(x_bits, y_bits), x, r);
  // An infinite x, a y of 0, and NaN have no remainder.
  const Value infinity = number(f.infinity);
  const Value none = Or(Or(Le(infinity, x_bits), Lt(infinity, y_bits)), Eq(y_bits, number(0)));
  const Value nan = Bitcast(ConstInt(bits, f.infinity | (f.infinity >> 1)), wide);
  return Cast(Where(none, nan, r), type);
}

}  // namespace tg::frontend
