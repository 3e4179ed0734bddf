// Functions of floats in terms of the IR's few: exp2, log2, sin, sqrt, recip, trunc, and the bits.
// tools/accuracy/operators.def has their bounds. A device may contract a*b + c; where a difference
// must be exact, the product is.
//
// The derivative of each expression is that of its function, also where a part of it is not chosen,
// or is constant to the bit: a part that is not chosen must have a finite derivative.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <vector>

#include "absl/strings/str_cat.h"
#include "frontend/common/graph_builder.h"
#include "frontend/common/of_float.h"
#include "ir/value.h"

namespace tg::frontend {
namespace {

bool IsF64(Value v) { return v->dtype.scalar() == Scalar::kF64; }

// Horner's rule, the highest power's coefficient first.
template <typename Coefficients>
Value Polynomial(GraphBuilder& g, Value x, const Coefficients& coefficients) {
  Value sum = nullptr;
  for (const double c : coefficients) {
    sum = sum ? g.Add(g.Mul(sum, x), g.Like(x, c)) : g.Like(x, c);
  }
  return sum;
}
Value Polynomial(GraphBuilder& g, Value x, std::initializer_list<double> coefficients) {
  return Polynomial<std::initializer_list<double>>(g, x, coefficients);
}

// The upper half of v's significand: the product of two such numbers is exact. What depends on it
// has the derivative of the rest alone.
Value High(GraphBuilder& g, Value v) {
  const Scalar bits = BitsType(v->dtype.scalar());
  const int64_t mask = IsF64(v) ? -(int64_t{1} << 27) : 0xfffff000;
  const Value word = g.Bitcast(g.Detach(v), bits);
  return g.Bitcast(g.And(word, g.ConstInt(bits, mask)), v->dtype.scalar());
}

// 1 or -1, as the sign's bit says, also of a zero: the odd function of |v| that is f(v) is
// sign * f(sign * v), whose derivative at 0 is f's.
Value SignFactor(GraphBuilder& g, Value v) {
  const Scalar type = v->dtype.scalar(), bits = BitsType(type);
  const auto top = static_cast<int64_t>(uint64_t{1} << (BitWidth(bits) - 1));
  const Value sign = g.And(g.Bitcast(v, bits), g.ConstInt(bits, top));
  return g.Bitcast(g.Or(sign, g.ConstInt(bits, BitsFromDouble(type, 1))), type);
}

// e^v with an error that does not grow with v. exp2(v * log2(e)) loses as many bits as the product
// has before the point; here the product is a sum of an exact part and a small one.
Value WideExp(GraphBuilder& g, Value v) {
  const double bound = IsF64(v) ? 800 : 120, log2e = std::numbers::log2e;
  const double upper = IsF64(v) ? 0x1.715476p+0 : 0x1.714p+0;
  constexpr double lost = 0x1.777d0ffda0d24p-56;  // of the constant in f64
  v = g.Min(g.Max(v, g.Like(v, -bound)), g.Like(v, bound));
  const Value high = High(g, v), low = g.Sub(v, high);
  const Value exact = g.Mul(high, g.Like(v, upper));
  const Value rest =
      g.Add(g.Mul(high, g.Like(v, (log2e - upper) + lost)), g.Mul(low, g.Like(v, log2e)));
  // Half of the power, which does not overflow before the result does.
  const Value half = g.Unary(Op::kExp2, g.Sub(exact, g.Like(v, 1)));
  return g.Mul(half, g.Mul(g.Unary(Op::kExp2, rest), g.Like(v, 2)));
}

// The polynomial that Erf has in f64 where |v| is up to 1: erf(v) / v as a polynomial in v^2.
constexpr double kErfNear[] = {
    0x1.05ffd737fb32ep-34, -0x1.389d4f2641625p-30, 0x1.f7b4bf3b13964p-27, -0x1.5f1ecb6f0764cp-23,
    0x1.b9df224ca4b97p-20, -0x1.f4d1e3183f7aep-17, 0x1.f9a321d5b8e1ep-14, -0x1.c02db3dac435fp-11,
    0x1.565bcd0dbaa38p-8,  -0x1.b82ce31284e00p-6,  0x1.ce2f21a042b30p-4,  -0x1.812746b0379e6p-2,
    0x1.20dd750429b6dp+0};
// Beyond: e^(a^2) erfc(a) in t = (a - 4) / (a + 4), for a from 1 to 6. Both interpolate at
// Chebyshev's points, with relative errors below 2^-53.
constexpr double kErfFar[] = {
    0x1.8e87314f0c4e5p-21, 0x1.2b4e5f7f9fc90p-18,  -0x1.f795cc47a2e9dp-21, -0x1.760b0f4f98bddp-16,
    0x1.4b2b60f4bb367p-14, -0x1.6dabbd6cd1f73p-16, -0x1.a2f9b5936f7aep-11, 0x1.0a17efedaf252p-8,
    -0x1.a4ded356baaf1p-7, 0x1.0066e10432712p-5,   -0x1.027d57453d772p-4,  0x1.be502c3653e2fp-4,
    -0x1.506666f69db86p-3, 0x1.bff01a5f908b3p-3,   -0x1.094922737431dp-2,  0x1.18932bf08e154p-3};

Value ErfF64(GraphBuilder& g, Value v) {
  // From 6 on the result rounds to 1.
  const Value sign = SignFactor(g, v), a = g.Min(g.Mul(v, sign), g.Like(v, 6));
  const Value square = g.Mul(a, a), four = g.Like(v, 4);
  const Value near = g.Mul(a, Polynomial(g, square, kErfNear));
  const Value t = g.Div(g.Sub(a, four), g.Add(a, four));
  const Value rest = g.Mul(WideExp(g, g.Neg(square)), Polynomial(g, t, kErfFar));
  const Value one = g.Like(v, 1);
  return g.Mul(sign, g.Where(g.Lt(one, a), g.Sub(one, rest), near));
}

}  // namespace

Value GraphBuilder::CopySign(Value magnitude, Value sign) {
  if (!magnitude || !sign) return nullptr;
  return Mul(Abs(magnitude), SignFactor(*this, sign));
}

Value GraphBuilder::Exp(Value x) {
  return OfFloat(*this, x, [&](Value v) {
    if (IsF64(v)) return WideExp(*this, v);
    return Unary(Op::kExp2, Mul(v, Like(v, std::numbers::log2e)));
  });
}
Value GraphBuilder::Log(Value x) {
  return OfFloat(*this, x,
                 [&](Value v) { return Mul(Unary(Op::kLog2, v), Like(v, std::numbers::ln2)); });
}

Value GraphBuilder::Log1p(Value x) {
  return OfFloat(*this, x, [&](Value v) {
    // Kahan: log(u) * v / (u - 1) for u = 1 + v cancels u's rounding. The factor is detached:
    // its derivative would be one of rounding errors. Near 0 a Taylor polynomial has both.
    const double bound = 0x1p-5;
    const Value near = Lt(Abs(v), Like(v, bound));
    std::vector<double> terms;
    for (int n = IsF64(v) ? 11 : 5; n > 0; --n) terms.push_back((n % 2 ? 1.0 : -1.0) / n);
    const Value low = Where(near, v, Like(v, 0));
    const Value one = Like(v, 1), u = Add(one, v);
    const Value factor = Where(Or(near, IsInf(u, true, false)), one, Detach(Div(v, Sub(u, one))));
    return Where(near, Mul(low, Polynomial(*this, low, terms)), Mul(Log(u), factor));
  });
}

Value GraphBuilder::Expm1(Value x) {
  return OfFloat(*this, x, [&](Value v) {
    // Near 0 a Taylor polynomial, since exp(v) - 1 cancels there.
    std::vector<double> terms;
    double factorial = 1;
    for (int n = 1; n <= (IsF64(v) ? 14 : 7); ++n) terms.push_back(1 / (factorial *= n));
    std::reverse(terms.begin(), terms.end());
    const Value near = Lt(Abs(v), Like(v, 0.35)), low = Where(near, v, Like(v, 0));
    return Where(near, Mul(low, Polynomial(*this, low, terms)), Sub(Exp(v), Like(v, 1)));
  });
}

Value GraphBuilder::Sin(Value x) {
  return OfFloat(*this, x, [&](Value v) { return Unary(Op::kSin, v); });
}

// sin(2v) / (2 sin(v)), since the IR's sine is accurate for every argument, and a quotient does not
// cancel near the zeros of cos. pi/2 - v would be a difference of rounded numbers.
Value GraphBuilder::Cos(Value x) {
  return OfFloat(*this, x, [&](Value v) {
    const Value one = Like(v, 1), two = Like(v, 2), a = Abs(v);
    // Where 2v overflows: 1 - 2 sin(v/2)^2, whose error is one of units of 1.
    const double greatest = IsF64(v) ? std::numeric_limits<double>::max()
                                     : static_cast<double>(std::numeric_limits<float>::max());
    const Value overflows = Lt(Like(v, greatest / 2), a);
    const Value other = Sin(Where(overflows, Mul(v, Like(v, 0.5)), Mul(v, two)));
    const Value quotient = Div(other, Mul(Sin(v), two));
    const Value cosine = Where(overflows, Sub(one, Mul(Mul(other, other), two)), quotient);
    // The quotient of roundings may exceed 1 a little, and is that of zeros at 0.
    const Value within = Max(Min(cosine, one), Like(v, -1));
    const Value result = Where(Lt(a, Like(v, IsF64(v) ? 0x1p-27 : 0x1p-13)), one, within);
    // The derivative of the quotient would cancel. A 0 with the derivatives of cos(v) is added:
    // they are those of -2 sin(v/2)^2.
    const Value half = Sin(Mul(v, Like(v, 0.5))), smooth = Mul(Mul(half, half), Like(v, -2));
    return Add(Detach(result), Sub(smooth, Detach(smooth)));
  });
}
Value GraphBuilder::Tan(Value x) {
  return OfFloat(*this, x, [&](Value v) { return Div(Sin(v), Cos(v)); });
}

Value GraphBuilder::Atan(Value x) {
  return OfFloat(*this, x, [&](Value v) {
    // Reduces the argument to [0, 1] by atan(a) = pi/2 - atan(1/a), then to [-tan(pi/12),
    // tan(pi/12)] by atan(a) = pi/6 + atan((a sqrt(3) - 1) / (a + sqrt(3))), and evaluates a Taylor
    // polynomial.
    const Value sign = SignFactor(*this, v), a = Mul(v, sign), one = Like(v, 1);
    const Value root3 = Like(v, std::numbers::sqrt3);
    const Value large = Lt(one, a);
    const Value b = Where(large, Recip(Max(a, one)), a);
    const Value far = Lt(Like(v, 0.2679491924311227), b);
    const Value c = Where(far, Div(Sub(Mul(b, root3), one), Add(b, root3)), b);
    std::vector<double> terms;
    for (int n = IsF64(v) ? 27 : 17; n > 0; n -= 2) terms.push_back((n % 4 == 1 ? 1.0 : -1.0) / n);
    Value r = Mul(c, Polynomial(*this, Mul(c, c), terms));
    r = Where(far, Add(r, Like(v, std::numbers::pi / 6)), r);
    r = Where(large, Sub(Like(v, std::numbers::pi / 2), r), r);
    return Mul(r, sign);
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
    const Value sign = SignFactor(*this, v), a = Mul(v, sign);
    const Value e = Expm1(a), half = Like(v, 0.5), one = Like(v, 1);
    const Value near = Mul(half, Add(e, Div(e, Add(e, one))));
    // By the root of exp(a), which overflows where sinh(a) does not yet.
    const Value root = WideExp(*this, Mul(a, half));
    const Value far = Sub(Mul(Mul(half, root), root), Div(Div(half, root), root));
    return Mul(Where(Lt(a, one), near, far), sign);
  });
}
Value GraphBuilder::Cosh(Value x) {
  return OfFloat(*this, x, [&](Value v) {
    const Value half = Like(v, 0.5), root = WideExp(*this, Mul(Mul(v, SignFactor(*this, v)), half));
    return Add(Mul(Mul(half, root), root), Div(Div(half, root), root));
  });
}
Value GraphBuilder::Tanh(Value x) {
  return OfFloat(*this, x, [&](Value v) {
    // (e - 1) / (e + 1) for e = exp(2|v|), by expm1 so that small results keep their digits.
    const Value sign = SignFactor(*this, v), a = Min(Mul(v, sign), Like(v, 20));
    const Value e = Expm1(Mul(a, Like(v, 2)));
    return Mul(Div(e, Add(e, Like(v, 2))), sign);
  });
}
Value GraphBuilder::Asinh(Value x) {
  return OfFloat(*this, x, [&](Value v) {
    const Value sign = SignFactor(*this, v), a = Mul(v, sign);
    const Value one = Like(v, 1), great = Like(v, 0x1p30), a2 = Mul(a, a);
    const Value near = Log1p(Add(a, Div(a2, Add(one, Sqrt(Add(a2, one))))));
    // The square overflows; far before, asinh(a) rounds to log(2a).
    const Value far = Add(Log(Max(a, great)), Like(v, std::numbers::ln2));
    return Mul(Where(Lt(a, great), near, far), sign);
  });
}
Value GraphBuilder::Acosh(Value x) {
  return OfFloat(*this, x, [&](Value v) {
    const Value t = Sub(v, Like(v, 1));
    const Value near = Log1p(Add(t, Sqrt(Add(Mul(t, t), Mul(t, Like(v, 2))))));
    const Value far = Add(Log(v), Like(v, std::numbers::ln2));
    const Value nan = Like(v, std::numeric_limits<double>::quiet_NaN());
    return Where(Lt(v, Like(v, 1)), nan, Where(Lt(v, Like(v, 0x1p30)), near, far));
  });
}
Value GraphBuilder::Atanh(Value x) {
  return OfFloat(*this, x, [&](Value v) {
    const Value sign = SignFactor(*this, v), a = Mul(v, sign), one = Like(v, 1);
    const Value r = Mul(Like(v, 0.5), Log1p(Div(Mul(a, Like(v, 2)), Sub(one, a))));
    return Mul(r, sign);
  });
}

Value GraphBuilder::Erf(Value x) {
  return OfFloat(*this, x, [&](Value v) {
    if (IsF64(v)) return ErfF64(*this, v);
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
    // Rounding must not lead beyond 1, where 1 - erf(v) would change its sign.
    const Value one = Like(v, 1);
    return Max(Min(Div(Mul(c, p), q), one), Neg(one));
  });
}

Value GraphBuilder::Sigmoid(Value x) {
  return OfFloat(*this, x, [&](Value v) { return Recip(Add(Like(v, 1), Exp(Neg(v)))); });
}
Value GraphBuilder::Softplus(Value x) {
  // max(v, 0) + log(1 + exp(-|v|)) does not overflow. At 0 both parts choose the same side.
  return OfFloat(*this, x, [&](Value v) {
    const Value sign = SignFactor(*this, v), zero = Like(v, 0);
    const Value positive = Where(Lt(sign, zero), zero, v);
    return Add(positive, Log1p(Exp(Neg(Mul(v, sign)))));
  });
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

}  // namespace tg::frontend
