// Operators of one element at a time.
#include <cmath>
#include <limits>

#include "frontend/onnx/activations.h"
#include "frontend/onnx/casts.h"
#include "frontend/onnx/onnx_tensors.h"
#include "frontend/onnx/operators.h"
#include "ir/value.h"

namespace tg::onnx {
namespace {

using NodeFn = void (*)(NodeContext&);

template <Value (GraphBuilder::*f)(Value)>
void Unary(NodeContext& c) {
  c.Return((c.g.*f)(c.In(0)));
}
// The second operand. Before opset 7, attribute `axis` says at which axis of the first operand the
// axes of the second one begin.
Value Second(NodeContext& c) {
  const Value a = c.In(0);
  Value b = c.In(1);
  if (!a || !b || c.opset >= 7 || !c.Find("axis")) return b;
  int64_t axis = c.Int("axis", 0);
  if (axis < 0) axis += static_cast<int64_t>(c.g.Rank(a));
  const size_t end = static_cast<size_t>(axis) + c.g.Rank(b);
  for (size_t i = end; i < c.g.Rank(a); ++i) b = c.g.Unsqueeze(b, -1);
  return b;
}
template <Value (GraphBuilder::*f)(Value, Value)>
void Binary(NodeContext& c) {
  c.Return((c.g.*f)(c.In(0), Second(c)));
}
// Any number of operands.
template <Value (GraphBuilder::*f)(Value, Value)>
void Variadic(NodeContext& c) {
  Value all = c.In(0);
  for (size_t i = 1; i < c.num_inputs(); ++i) all = (c.g.*f)(all, c.In(i));
  c.Return(all);
}
// Before opset 7 the second operand's axes could be told.
void Mean(NodeContext& c) {
  Value all = c.In(0);
  for (size_t i = 1; i < c.num_inputs(); ++i) all = c.g.Add(all, c.In(i));
  c.Return(c.g.Div(all, c.g.Like(all, static_cast<double>(c.num_inputs()))));
}

// Also of -0.
void Round(NodeContext& c) {
  const Value x = c.In(0);
  c.Return(c.g.Where(c.g.Eq(x, c.g.Like(x, 0)), x, c.g.Round(x)));
}

void Mod(NodeContext& c) {
  const Value a = c.In(0), b = c.In(1);
  if (!a || !b) return;
  if (!a->dtype.is_float()) {
    c.Return(c.g.Binary(c.Int("fmod", 0) ? Op::kCMod : Op::kFloorMod, a, b));
    return;
  }
  const Value r = c.g.Fmod(a, b), zero = c.g.Like(a, 0);
  if (c.Int("fmod", 0) != 0) {
    c.Return(r);
    return;
  }
  // As Python's: of the sign of the divisor.
  const Value moves = c.g.And(c.g.Ne(r, zero), c.g.Ne(c.g.Lt(r, zero), c.g.Lt(b, zero)));
  const Value moved = c.g.Where(moves, c.g.Add(r, b), r);
  c.Return(c.g.Where(c.g.Eq(moved, zero), c.g.CopySign(moved, b), moved));
}

void Neg(NodeContext& c) { c.Return(c.g.Neg(c.In(0))); }
void Not(NodeContext& c) { c.Return(c.g.Not(c.In(0))); }
void Pow(NodeContext& c) { c.Return(c.g.Pow(c.In(0), Second(c))); }
void Where(NodeContext& c) { c.Return(c.g.Where(c.In(0), c.In(1), c.In(2))); }
void Reciprocal(NodeContext& c) { c.Return(c.g.Recip(c.In(0))); }
void Identity(NodeContext& c) { c.Return(c.Input(0), 0); }

void Clip(NodeContext& c) {
  const Value x = c.In(0);
  if (!x) return;
  Value low = c.Optional(1), high = c.Optional(2);
  if (c.opset < 11) {
    if (c.Find("min")) low = c.g.Like(x, c.Float("min", 0));
    if (c.Find("max")) high = c.g.Like(x, c.Float("max", 0));
  }
  c.Return(c.g.Clip(x, low, high));
}

// An operator whose function other operators can name as an activation.
void NamedActivation(NodeContext& c) {
  const auto given = [&](std::string_view name) {
    return c.Find(name) ? std::optional(c.Float(name, 0)) : std::nullopt;
  };
  c.Return(Activate(c.g, c.node.op, c.In(0), given("alpha"), given("beta")));
}
void PRelu(NodeContext& c) {
  const Value x = c.In(0);
  Value slope = c.In(1);
  if (!x || !slope) return;
  if (c.opset < 7 && c.g.Rank(slope) == 1 && !c.g.Extent(slope, 0).Is(1)) {
    // One slope a channel.
    for (size_t i = 2; i < c.g.Rank(x); ++i) slope = c.g.Unsqueeze(slope, -1);
  }
  c.Return(c.g.Where(c.g.Lt(x, c.g.Like(x, 0)), c.g.Mul(x, slope), x));
}
void Celu(NodeContext& c) {
  const Value x = c.In(0);
  const double alpha = c.Float("alpha", 1);
  const Value low = c.g.Mul(c.g.Expm1(c.g.Div(x, c.g.Like(x, alpha))), c.g.Like(x, alpha));
  c.Return(c.g.Where(c.g.Lt(x, c.g.Like(x, 0)), low, x));
}
void Selu(NodeContext& c) {
  const Value x = c.In(0);
  const double alpha = c.Float("alpha", 1.67326319217681884765625);
  const double gamma = c.Float("gamma", 1.05070102214813232421875);
  const Value low = c.g.Mul(c.g.Expm1(x), c.g.Like(x, alpha * gamma));
  c.Return(c.g.Where(c.g.Gt(x, c.g.Like(x, 0)), c.g.Mul(x, c.g.Like(x, gamma)), low));
}
void HardSwish(NodeContext& c) {
  const Value x = c.In(0);
  const Value gate = c.g.Clip(c.g.Add(c.g.Mul(x, c.g.Like(x, 1.0 / 6)), c.g.Like(x, 0.5)),
                              c.g.Like(x, 0), c.g.Like(x, 1));
  c.Return(c.g.Mul(x, gate));
}
void Mish(NodeContext& c) {
  const Value x = c.In(0);
  c.Return(c.g.Mul(x, c.g.Tanh(c.g.Softplus(x))));
}
Value SwishOf(NodeContext& c, Value x) {
  return c.g.Mul(x, c.g.Sigmoid(c.g.Mul(x, c.g.Like(x, c.Float("alpha", 1)))));
}
void Swish(NodeContext& c) { c.Return(SwishOf(c, c.In(0))); }
void SwiGlu(NodeContext& c) { c.Return(c.g.Mul(SwishOf(c, c.In(0)), c.In(1))); }
void Gelu(NodeContext& c) {
  c.Return(c.String("approximate", "none") == "tanh" ? c.g.GeluTanh(c.In(0)) : c.g.Gelu(c.In(0)));
}
void Shrink(NodeContext& c) {
  const Value x = c.In(0);
  if (!x) return;
  const double lambda = c.Float("lambd", 0.5), bias = c.Float("bias", 0);
  // Bounds are floats also where x is an integer.
  const Value f = c.g.Cast(x, x->dtype.is_float() ? x->dtype.scalar() : Scalar::kF32);
  const Value low = c.g.Lt(f, c.g.Like(f, -lambda)), high = c.g.Gt(f, c.g.Like(f, lambda));
  const Value y = c.g.Where(low, c.g.Add(f, c.g.Like(f, bias)),
                            c.g.Where(high, c.g.Sub(f, c.g.Like(f, bias)), c.g.Like(f, 0)));
  c.Return(c.g.Cast(y, x->dtype.scalar()));
}
void IsInf(NodeContext& c) {
  c.Return(c.g.IsInf(c.In(0), c.Int("detect_positive", 1) != 0, c.Int("detect_negative", 1) != 0));
}

void BitShift(NodeContext& c) {
  c.Return(c.g.Binary(c.String("direction", "") == "LEFT" ? Op::kShl : Op::kShr, c.In(0), c.In(1)));
}

void Cast(NodeContext& c) {
  const auto to = static_cast<ElementType>(
      c.node.op == "CastLike" ? static_cast<int64_t>(c.TypeOf(1)) : c.Int("to", 0));
  const std::string_view mode = c.String("round_mode", "up");
  if (mode != "up" && mode != "down" && mode != "nearest") {
    c.Fail("round_mode '" + std::string(mode) + "'");
    return;
  }
  const PowerRounding rounding = mode == "up"     ? PowerRounding::kUp
                                 : mode == "down" ? PowerRounding::kDown
                                                  : PowerRounding::kNearest;
  c.Return(CastTo(c.g, c.In(0), c.TypeOf(0), to, c.Int("saturate", 1) != 0, rounding), 0, to);
}

void BitCast(NodeContext& c) {
  const auto to = static_cast<ElementType>(c.Int("to", 0));
  const auto scalar = ScalarFor(to);
  if (!scalar || !IsStoredAsIs(to)) {
    c.Fail("a bit cast to " + std::string(TypeName(to)));
    return;
  }
  c.Return(c.g.Bitcast(c.In(0), *scalar), 0, to);
}

constexpr Operator kElementwiseOperators[] = {
    {"", "Abs", 1, Unary<&GraphBuilder::Abs>},
    {"", "Acos", 7, Unary<&GraphBuilder::Acos>},
    {"", "Acosh", 9, Unary<&GraphBuilder::Acosh>},
    {"", "Add", 1, Binary<&GraphBuilder::Add>},
    {"", "And", 1, Binary<&GraphBuilder::And>},
    {"", "Asin", 7, Unary<&GraphBuilder::Asin>},
    {"", "Asinh", 9, Unary<&GraphBuilder::Asinh>},
    {"", "Atan", 7, Unary<&GraphBuilder::Atan>},
    {"", "Atanh", 9, Unary<&GraphBuilder::Atanh>},
    {"", "BitCast", 26, BitCast},
    {"", "BitShift", 11, BitShift},
    {"", "BitwiseAnd", 18, Binary<&GraphBuilder::And>},
    {"", "BitwiseNot", 18, Not},
    {"", "BitwiseOr", 18, Binary<&GraphBuilder::Or>},
    {"", "BitwiseXor", 18, Binary<&GraphBuilder::Xor>},
    {"", "Cast", 6, Cast},
    {"", "CastLike", 15, Cast},
    {"", "Ceil", 1, Unary<&GraphBuilder::Ceil>},
    {"", "Celu", 12, Celu},
    {"", "Clip", 6, Clip},
    {"", "Cos", 7, Unary<&GraphBuilder::Cos>},
    {"", "Cosh", 9, Unary<&GraphBuilder::Cosh>},
    {"", "Div", 1, Binary<&GraphBuilder::Div>},
    {"", "Elu", 1, NamedActivation},
    {"", "Equal", 1, Binary<&GraphBuilder::Eq>},
    {"", "Erf", 9, Unary<&GraphBuilder::Erf>},
    {"", "Exp", 1, Unary<&GraphBuilder::Exp>},
    {"", "Floor", 1, Unary<&GraphBuilder::Floor>},
    {"", "Gelu", 20, Gelu},
    {"", "Greater", 1, Binary<&GraphBuilder::Gt>},
    {"", "GreaterOrEqual", 12, Binary<&GraphBuilder::Ge>},
    {"", "HardSigmoid", 1, NamedActivation},
    {"", "HardSwish", 14, HardSwish},
    {"", "Identity", 1, Identity},
    {"", "IsInf", 10, IsInf},
    {"", "IsNaN", 9, Unary<&GraphBuilder::IsNan>},
    {"", "LeakyRelu", 1, NamedActivation},
    {"", "Less", 1, Binary<&GraphBuilder::Lt>},
    {"", "LessOrEqual", 12, Binary<&GraphBuilder::Le>},
    {"", "Log", 1, Unary<&GraphBuilder::Log>},
    {"", "Max", 1, Variadic<&GraphBuilder::Max>},
    {"", "Mean", 1, Mean},
    {"", "Min", 1, Variadic<&GraphBuilder::Min>},
    {"", "Mish", 18, Mish},
    {"", "Mod", 10, Mod},
    {"", "Mul", 1, Binary<&GraphBuilder::Mul>},
    {"", "Neg", 1, Neg},
    {"", "Not", 1, Not},
    {"", "Or", 1, Binary<&GraphBuilder::Or>},
    {"", "PRelu", 1, PRelu},
    {"", "Pow", 1, Pow},
    {"", "Reciprocal", 1, Reciprocal},
    {"", "Relu", 1, NamedActivation},
    {"", "Round", 11, Round},
    {"", "Selu", 1, Selu},
    {"", "Shrink", 9, Shrink},
    {"", "Sigmoid", 1, NamedActivation},
    {"", "Sign", 9, Unary<&GraphBuilder::Sign>},
    {"", "Sin", 7, Unary<&GraphBuilder::Sin>},
    {"", "Sinh", 9, Unary<&GraphBuilder::Sinh>},
    {"", "Softplus", 1, NamedActivation},
    {"", "Softsign", 1, NamedActivation},
    {"", "Sqrt", 1, Unary<&GraphBuilder::Sqrt>},
    {"", "Sub", 1, Binary<&GraphBuilder::Sub>},
    {"", "Sum", 1, Variadic<&GraphBuilder::Add>},
    {"", "SwiGLU", 28, SwiGlu},
    {"", "Swish", 24, Swish},
    {"", "Tan", 7, Unary<&GraphBuilder::Tan>},
    {"", "Tanh", 1, NamedActivation},
    {"", "ThresholdedRelu", 10, NamedActivation},
    {"", "Where", 9, Where},
    {"", "Xor", 1, Binary<&GraphBuilder::Xor>},
    {"com.microsoft", "FastGelu", 1,
     [](NodeContext& c) {
       const Value x = c.Has(1) ? c.g.Add(c.In(0), c.In(1)) : c.In(0);
       c.Return(c.g.GeluTanh(x));
     }},
    {"com.microsoft", "BiasGelu", 1,
     [](NodeContext& c) { c.Return(c.g.Gelu(c.g.Add(c.In(0), c.In(1)))); }},
    {"com.microsoft", "Gelu", 1, Gelu},
    {"com.microsoft", "QuickGelu", 1,
     [](NodeContext& c) {
       const Value x = c.In(0);
       c.Return(c.g.Mul(x, c.g.Sigmoid(c.g.Mul(x, c.g.Like(x, c.Float("alpha", 1.702f))))));
     }},
};

}  // namespace

std::span<const Operator> ElementwiseOperators() { return kElementwiseOperators; }

}  // namespace tg::onnx
