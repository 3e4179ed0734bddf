// Elementwise operations that the IR has no op for; float_functions.cc has the transcendental ones.
#include <cmath>

#include "frontend/common/graph_builder.h"
#include "frontend/common/of_float.h"

namespace tg::frontend {
Value GraphBuilder::Abs(Value x) {
  if (!x) return nullptr;
  if (!x->dtype.is_float()) {
    return IsUnsigned(x->dtype.scalar()) ? x : Where(Lt(x, Like(x, 0)), Neg(x), x);
  }
  // Also of -0 and NaN: the sign's bit is cleared.
  const Scalar bits = BitsType(x->dtype.scalar());
  const int64_t mask = static_cast<int64_t>((uint64_t{1} << (BitWidth(bits) - 1)) - 1);
  return Bitcast(And(Bitcast(x, bits), ConstInt(bits, mask)), x->dtype.scalar());
}

Value GraphBuilder::Sign(Value x) {
  if (!x) return nullptr;
  const Value zero = Like(x, 0), one = Like(x, 1);
  if (IsUnsigned(x->dtype.scalar())) return Where(Ne(x, zero), one, zero);
  const Value sign = Where(Lt(zero, x), one, Where(Lt(x, zero), Like(x, -1), zero));
  return x->dtype.is_float() ? Where(IsNan(x), x, sign) : sign;
}

Value GraphBuilder::Floor(Value x) {
  return OfFloat(*this, x, [&](Value v) {
    const Value t = Trunc(v);
    return Where(Lt(v, t), Sub(t, Like(v, 1)), t);
  });
}

Value GraphBuilder::Ceil(Value x) {
  return OfFloat(*this, x, [&](Value v) {
    const Value t = Trunc(v);
    return Where(Lt(t, v), Add(t, Like(v, 1)), t);
  });
}

Value GraphBuilder::Round(Value x) {
  return OfFloat(*this, Detach(x), [&](Value v) {
    // From 2^p on, for a significand of p + 1 bits, every number is whole, so that adding 2^p
    // rounds.
    const Value least = Like(v, v->dtype.scalar() == Scalar::kF64 ? 0x1p52 : 0x1p23);
    const Value negative = Lt(v, Like(v, 0)), magnitude = Where(negative, Neg(v), v);
    const Value rounded = Sub(Add(magnitude, least), least);
    return Where(Lt(magnitude, least), Where(negative, Neg(rounded), rounded), v);
  });
}

Value GraphBuilder::Pow(Value a, Value b) {
  if (!a || !b) return nullptr;
  const Scalar type = a->dtype.scalar();
  if (!IsFloat(type)) {
    // By squaring for a known whole exponent, else by floats.
    const auto n = KnownInts(b);
    if (b->dtype.is_int() && n && n->size() == 1 && (*n)[0] >= 0 && (*n)[0] < 64) {
      Value result = Like(a, 1), square = a;
      for (int64_t e = (*n)[0]; e > 0; e >>= 1) {
        if (e & 1) result = Mul(result, square);
        square = Mul(square, square);
      }
      return Rank(b) <= Rank(a) ? result : BroadcastTo(result, ShapeOf(b));
    }
    const Scalar wide = BitWidth(type) > 16 ? Scalar::kF64 : Scalar::kF32;
    const Value power = Binary(Op::kPow, Cast(a, wide), Cast(b, wide)), near = Round(power);
    if (b->dtype.is_int()) return Cast(near, type);
    // Toward zero, but a power that rounding alone keeps from a whole number is that number.
    const Value error = Mul(Abs(power), Like(power, wide == Scalar::kF64 ? 0x1p-48 : 0x1p-19));
    return Cast(Where(Le(Abs(Sub(power, near)), error), near, Trunc(power)), type);
  }
  const Scalar wide = BitWidth(type) < 32 ? Scalar::kF32 : type;
  const auto n = KnownNumbers(b);
  const Value w = Cast(a, wide);
  if (n && n->size() == 1 && Rank(b) <= Rank(a)) {
    if ((*n)[0] == 2) return Cast(Mul(w, w), type);
    if ((*n)[0] == 0.5) {
      // As pow has it: 0 for -0, and infinity for -infinity.
      const Value infinity = Like(w, HUGE_VAL), root = Sqrt(Add(w, Like(w, 0)));
      return Cast(Where(Eq(w, Neg(infinity)), infinity, root), type);
    }
    if ((*n)[0] == 1) return a;
    if ((*n)[0] == 3) return Cast(Mul(Mul(w, w), w), type);
    if ((*n)[0] == -1) return Cast(Recip(w), type);
  }
  return Cast(Binary(Op::kPow, w, Cast(b, wide)), type);
}

Value GraphBuilder::IsInf(Value x, bool positive, bool negative) {
  if (!x) return nullptr;
  const Value up = Eq(x, Like(x, HUGE_VAL)), down = Eq(x, Like(x, -HUGE_VAL));
  if (positive && negative) return Or(up, down);
  if (positive || negative) return positive ? up : down;
  return Full(ShapeOf(x), ir_.Bool(false));
}

Value GraphBuilder::Clip(Value x, Value low, Value high) {
  if (low) x = Max(x, low);
  if (high) x = Min(x, high);
  return x;
}

}  // namespace tg::frontend
