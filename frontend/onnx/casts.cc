#include "frontend/onnx/casts.h"

#include <cmath>
#include <string>

#include "frontend/onnx/onnx_tensors.h"

namespace tg::onnx {
namespace {

// A float format of few bits: what lies between its numbers rounds to even.
struct SmallFormat {
  ElementType type;
  int mantissa_bits;
  int min_exponent;  // of its normal numbers
  double max;
  double beyond;  // what is above `max` becomes without saturation
};
constexpr SmallFormat kSmallFormats[] = {
    {ElementType::kFloat8E4M3FN, 3, -6, 448, NAN},
    {ElementType::kFloat8E5M2, 2, -14, 57344, INFINITY},
    {ElementType::kFloat8E4M3FNUZ, 3, -7, 240, NAN},
    {ElementType::kFloat8E5M2FNUZ, 2, -15, 57344, NAN},
    {ElementType::kFloat4E2M1, 1, 0, 6, 6},
};

const SmallFormat* FindSmallFormat(ElementType type) {
  for (const SmallFormat& f : kSmallFormats) {
    if (f.type == type) return &f;
  }
  return nullptr;
}

// The number of the format next to x, in f32.
Value RoundTo(GraphBuilder& g, Value x, const SmallFormat& format, bool saturates) {
  const Value bits = g.Bitcast(x, Scalar::kU32);
  // x's exponent, at least that of the least normal number; then x in units of the last place.
  Value exponent =
      g.And(g.Binary(Op::kShr, bits, g.ConstInt(Scalar::kU32, 23)), g.ConstInt(Scalar::kU32, 255));
  exponent = g.Max(exponent, g.ConstInt(Scalar::kU32, format.min_exponent + 127));
  const Value unit =
      g.Bitcast(g.Binary(Op::kShl, g.Sub(exponent, g.ConstInt(Scalar::kU32, format.mantissa_bits)),
                         g.ConstInt(Scalar::kU32, 23)),
                Scalar::kF32);
  Value y = g.Mul(g.Round(g.Div(x, unit)), unit);
  const Value max = g.Like(y, format.max), above = g.Gt(g.Abs(y), max);
  const bool clamps = saturates || format.type == ElementType::kFloat4E2M1;
  const Value beyond = clamps ? max : g.Like(y, format.beyond);
  y = g.Where(above, g.Where(g.Lt(x, g.Like(x, 0)), g.Neg(beyond), beyond), y);
  const bool has_no_negative_zero =
      format.type == ElementType::kFloat8E4M3FNUZ || format.type == ElementType::kFloat8E5M2FNUZ;
  if (has_no_negative_zero) y = g.Add(y, g.Like(y, 0));
  // A format without NaN has a negative zero in its place.
  const Value nan = format.type == ElementType::kFloat4E2M1 ? g.Like(x, -0.0) : x;
  return g.Where(g.IsNan(x), nan, y);
}

// The power of two next to x, in f32. Computed from x's exponent, which is the code of the result;
// code 0 is 2^-127 and code 255 is NaN.
Value RoundToPower(GraphBuilder& g, Value x, bool saturates, PowerRounding rounding) {
  const auto word = [&](int64_t v) { return g.ConstInt(Scalar::kU32, v); };
  const Value bits = g.Bitcast(x, Scalar::kU32);
  const Value exponent = g.And(g.Binary(Op::kShr, bits, word(23)), word(255));
  const Value fraction = g.And(bits, word((1 << 23) - 1)), half = word(1 << 22);
  Value code = exponent;
  if (rounding != PowerRounding::kDown) {
    // Below the normal numbers a fraction of one half is the power itself.
    const Value up =
        rounding == PowerRounding::kUp
            ? g.Ne(fraction, word(0))
            : g.Or(g.Lt(half, fraction), g.And(g.Eq(fraction, half), g.Ne(exponent, word(0))));
    code = g.Add(code, g.Cast(up, Scalar::kU32));
  }
  const Value most = g.Lt(word(254), code);
  const Value beyond = word(saturates ? 254 : 255);
  code = g.Where(g.Or(most, g.IsInf(x)), beyond, code);
  if (!saturates) code = g.Where(g.Eq(x, g.Like(x, 0)), word(255), code);
  code = g.Where(g.IsNan(x), word(255), code);
  const Value power = g.Binary(Op::kShl, code, word(23));
  const Value result =
      g.Where(g.Eq(code, word(0)), half, g.Where(g.Eq(code, word(255)), word(0x7fc00000), power));
  return g.Bitcast(result, Scalar::kF32);
}

}  // namespace

Value CastTo(GraphBuilder& g, Value x, ElementType from, ElementType to, bool saturates,
             PowerRounding power_rounding) {
  if (!x) return nullptr;
  const auto scalar = ScalarFor(to);
  if (!scalar) return g.Fail("a cast to " + std::string(TypeName(to)));
  if (from == to) return x;
  if (const SmallFormat* format = FindSmallFormat(to)) {
    const Value rounded = RoundTo(g, g.Cast(x, Scalar::kF32), *format, saturates);
    return g.Cast(rounded, *scalar);
  }
  switch (to) {
    case ElementType::kFloat8E8M0:
      return RoundToPower(g, g.Cast(x, Scalar::kF32), saturates, power_rounding);
    case ElementType::kInt4:
    case ElementType::kInt2: {
      // Wraps, as integers of more bits do.
      const int shift = to == ElementType::kInt4 ? 4 : 6;
      const Value amount = g.ConstInt(Scalar::kI8, shift);
      const Value wide = g.Cast(g.Cast(x, Scalar::kI32), Scalar::kI8);
      return g.Binary(Op::kShr, g.Binary(Op::kShl, wide, amount), amount);
    }
    case ElementType::kUint4:
    case ElementType::kUint2: {
      const int64_t mask = to == ElementType::kUint4 ? 15 : 3;
      return g.And(g.Cast(g.Cast(x, Scalar::kI32), Scalar::kU8), g.ConstInt(Scalar::kU8, mask));
    }
    default:
      return g.Cast(x, *scalar);
  }
}

}  // namespace tg::onnx
