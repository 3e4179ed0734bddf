// Functions of floats in terms of the IR's few: exp2, log2, sin, sqrt, recip, trunc.
#include <cmath>
#include <numbers>

#include "absl/strings/str_cat.h"
#include "frontend/common/graph_builder.h"

namespace tg::frontend {
namespace {

// Calls f on x as a float of 32 bits or more; the result has x's type again.
template <typename F>
Value OfFloat(GraphBuilder& g, Value x, F&& f) {
  if (!x) return nullptr;
  if (!x->dtype.is_float()) return g.Fail("a function of floats of " + g.Describe(x));
  const Scalar type = x->dtype.scalar();
  return g.Cast(f(BitWidth(type) < 32 ? g.Cast(x, Scalar::kF32) : x), type);
}

// Horner's rule, the highest power's coefficient first.
Value Polynomial(GraphBuilder& g, Value x, std::initializer_list<double> coefficients) {
  Value sum = nullptr;
  for (const double c : coefficients) {
    sum = sum ? g.Add(g.Mul(sum, x), g.Like(x, c)) : g.Like(x, c);
  }
  return sum;
}

}  // namespace

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
  return OfFloat(*this, x, [&](Value v) {
    // From 2^p on, for a significand of p + 1 bits, every number is whole, so that adding 2^p
    // rounds.
    const Value least = Like(v, v->dtype.scalar() == Scalar::kF64 ? 0x1p52 : 0x1p23);
    const Value negative = Lt(v, Like(v, 0)), magnitude = Where(negative, Neg(v), v);
    const Value rounded = Sub(Add(magnitude, least), least);
    return Where(Lt(magnitude, least), Where(negative, Neg(rounded), rounded), v);
  });
}

Value GraphBuilder::Exp(Value x) {
  return OfFloat(*this, x,
                 [&](Value v) { return Unary(Op::kExp2, Mul(v, Like(v, std::numbers::log2e))); });
}
Value GraphBuilder::Log(Value x) {
  return OfFloat(*this, x,
                 [&](Value v) { return Mul(Unary(Op::kLog2, v), Like(v, std::numbers::ln2)); });
}

Value GraphBuilder::Log1p(Value x) {
  return OfFloat(*this, x, [&](Value v) {
    // Kahan: log(u) * v / (u - 1) for u = 1 + v cancels u's rounding.
    const Value one = Like(v, 1), u = Add(one, v);
    const Value exact = Mul(Log(u), Div(v, Sub(u, one)));
    return Where(Eq(u, one), v, Where(IsInf(u), u, exact));
  });
}

Value GraphBuilder::Expm1(Value x) {
  return OfFloat(*this, x, [&](Value v) {
    // Near 0 a Taylor polynomial, since exp(v) - 1 cancels there.
    const Value near = Mul(
        v, Polynomial(*this, v, {1.0 / 5040, 1.0 / 720, 1.0 / 120, 1.0 / 24, 1.0 / 6, 0.5, 1.0}));
    return Where(Lt(Abs(v), Like(v, 0.35)), near, Sub(Exp(v), Like(v, 1)));
  });
}

Value GraphBuilder::Sin(Value x) {
  return OfFloat(*this, x, [&](Value v) { return Unary(Op::kSin, v); });
}
Value GraphBuilder::Cos(Value x) {
  return OfFloat(*this, x,
                 [&](Value v) { return Unary(Op::kSin, Sub(Like(v, std::numbers::pi / 2), v)); });
}
Value GraphBuilder::Tan(Value x) {
  return OfFloat(*this, x, [&](Value v) { return Div(Sin(v), Cos(v)); });
}

Value GraphBuilder::Atan(Value x) {
  return OfFloat(*this, x, [&](Value v) {
    // Reduces the argument to [0, 1] by atan(a) = pi/2 - atan(1/a), then to [-tan(pi/12),
    // tan(pi/12)] by atan(a) = pi/6 + atan((a sqrt(3) - 1) / (a + sqrt(3))), and evaluates a Taylor
    // polynomial.
    const Value a = Abs(v), one = Like(v, 1), root3 = Like(v, std::numbers::sqrt3);
    const Value large = Lt(one, a);
    const Value b = Where(large, Recip(a), a);
    const Value far = Lt(Like(v, 0.2679491924311227), b);
    const Value c = Where(far, Div(Sub(Mul(b, root3), one), Add(b, root3)), b);
    const Value c2 = Mul(c, c);
    Value r = Mul(c, Polynomial(*this, c2,
                                {1.0 / 17, -1.0 / 15, 1.0 / 13, -1.0 / 11, 1.0 / 9, -1.0 / 7,
                                 1.0 / 5, -1.0 / 3, 1.0}));
    r = Where(far, Add(r, Like(v, std::numbers::pi / 6)), r);
    r = Where(large, Sub(Like(v, std::numbers::pi / 2), r), r);
    return Where(Lt(v, Like(v, 0)), Neg(r), r);
  });
}

Value GraphBuilder::Asin(Value x) {
  return OfFloat(*this, x, [&](Value v) {
    // atan(v / sqrt(1 - v^2)); the ends give pi/2 by an infinite quotient.
    const Value one = Like(v, 1);
    return Atan(Div(v, Sqrt(Mul(Sub(one, v), Add(one, v)))));
  });
}
Value GraphBuilder::Acos(Value x) {
  return OfFloat(*this, x, [&](Value v) {
    // 2 atan(sqrt((1 - v) / (1 + v))), without cancellation near 1.
    const Value one = Like(v, 1);
    return Mul(Like(v, 2), Atan(Sqrt(Div(Sub(one, v), Add(one, v)))));
  });
}

Value GraphBuilder::Sinh(Value x) {
  return OfFloat(*this, x, [&](Value v) {
    const Value e = Expm1(Abs(v)), half = Like(v, 0.5);
    const Value r = Mul(half, Add(e, Div(e, Add(e, Like(v, 1)))));
    const Value far = Mul(half, Exp(Abs(v)));
    const Value s = Where(Lt(Abs(v), Like(v, 20)), r, far);
    return Where(Lt(v, Like(v, 0)), Neg(s), s);
  });
}
Value GraphBuilder::Cosh(Value x) {
  return OfFloat(*this, x, [&](Value v) {
    const Value e = Exp(Abs(v));
    return Mul(Like(v, 0.5), Add(e, Recip(e)));
  });
}
Value GraphBuilder::Tanh(Value x) {
  return OfFloat(*this, x, [&](Value v) {
    // (e - 1) / (e + 1) for e = exp(2|v|), by expm1 so that small results keep their digits.
    const Value a = Min(Abs(v), Like(v, 20)), e = Expm1(Mul(a, Like(v, 2)));
    const Value t = Div(e, Add(e, Like(v, 2)));
    return Where(IsNan(v), v, Where(Lt(v, Like(v, 0)), Neg(t), t));
  });
}
Value GraphBuilder::Asinh(Value x) {
  return OfFloat(*this, x, [&](Value v) {
    const Value a = Abs(v), one = Like(v, 1), a2 = Mul(a, a);
    const Value r = Log1p(Add(a, Div(a2, Add(one, Sqrt(Add(a2, one))))));
    return Where(Lt(v, Like(v, 0)), Neg(r), r);
  });
}
Value GraphBuilder::Acosh(Value x) {
  return OfFloat(*this, x, [&](Value v) {
    const Value t = Sub(v, Like(v, 1));
    return Log1p(Add(t, Sqrt(Add(Mul(t, t), Mul(t, Like(v, 2))))));
  });
}
Value GraphBuilder::Atanh(Value x) {
  return OfFloat(*this, x, [&](Value v) {
    const Value one = Like(v, 1);
    return Mul(Like(v, 0.5), Log1p(Div(Mul(v, Like(v, 2)), Sub(one, v))));
  });
}

Value GraphBuilder::Erf(Value x) {
  return OfFloat(*this, x, [&](Value v) {
    // The rational minimax approximation that Eigen and XLA use for f32, within a few ulp of it.
    const Value c = Max(Min(v, Like(v, 3.832506856900711)), Like(v, -3.832506856900711));
    const Value c2 = Mul(c, c);
    const Value p = Polynomial(*this, c2,
                               {0.00022905065861350646, 0.0034082910107109506, 0.050955695062380861,
                                0.18520832239976145, 1.128379143519084});
    const Value q =
        Polynomial(*this, c2,
                   {-1.1791602954361697e-7, 0.000023547966471313185, 0.0010179625278914885,
                    0.014070470171167667, 0.11098505178285362, 0.49746925110067538, 1.0});
    return Where(IsNan(v), v, Div(Mul(c, p), q));
  });
}

Value GraphBuilder::Sigmoid(Value x) {
  return OfFloat(*this, x, [&](Value v) { return Recip(Add(Like(v, 1), Exp(Neg(v)))); });
}
Value GraphBuilder::Softplus(Value x) {
  // max(v, 0) + log(1 + exp(-|v|)) does not overflow.
  return OfFloat(*this, x, [&](Value v) { return Add(Relu(v), Log1p(Exp(Neg(Abs(v))))); });
}
Value GraphBuilder::Gelu(Value x) {
  return OfFloat(*this, x, [&](Value v) {
    const Value e = Erf(Mul(v, Like(v, std::numbers::sqrt2 / 2)));
    return Mul(Mul(v, Like(v, 0.5)), Add(Like(v, 1), e));
  });
}
Value GraphBuilder::GeluTanh(Value x) {
  return OfFloat(*this, x, [&](Value v) {
    const Value cube = Mul(Mul(v, v), v);
    const Value inner =
        Mul(Like(v, std::sqrt(2 / std::numbers::pi)), Add(v, Mul(Like(v, 0.044715), cube)));
    return Mul(Mul(v, Like(v, 0.5)), Add(Like(v, 1), Tanh(inner)));
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
    return Cast(Round(Binary(Op::kPow, Cast(a, wide), Cast(b, wide))), type);
  }
  const Scalar wide = BitWidth(type) < 32 ? Scalar::kF32 : type;
  const auto n = KnownNumbers(b);
  const Value w = Cast(a, wide);
  if (n && n->size() == 1 && Rank(b) <= Rank(a)) {
    if ((*n)[0] == 2) return Cast(Mul(w, w), type);
    if ((*n)[0] == 0.5) return Cast(Sqrt(w), type);
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
