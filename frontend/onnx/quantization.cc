#include "frontend/onnx/quantization.h"

#include <algorithm>
#include <string>

#include "absl/strings/str_cat.h"
#include "frontend/onnx/casts.h"
#include "frontend/onnx/onnx_tensors.h"

namespace tg::onnx {
namespace {

// A zero point that is known to be the same for all elements as one constant; null if it is 0.
Value OneZeroPoint(GraphBuilder& g, Value zero) {
  const auto known = g.KnownInts(zero);
  if (!known || known->empty()) return zero;
  const int64_t first = known->front();
  if (std::any_of(known->begin(), known->end(), [&](int64_t z) { return z != first; })) return zero;
  return first == 0 ? nullptr : g.ConstInt(zero->dtype.scalar(), first);
}

}  // namespace

Value ScaleFor(GraphBuilder& g, Value x, Value scale, int64_t axis, int64_t block_size) {
  if (!x || !scale) return nullptr;
  if (g.NumElements(g.ShapeOf(scale)).Is(1)) return g.Reshape(scale, {});
  const auto at = g.Axis(axis, g.Rank(x));
  if (!at) return nullptr;
  if (block_size == 0) {
    if (g.Rank(scale) != 1) {
      return g.Fail(absl::StrCat("scales ", g.Describe(scale), " that are no vector"));
    }
    Shape along(g.Rank(x), Dim(1));
    along[static_cast<size_t>(*at)] = g.Extent(scale, 0);
    return g.Reshape(scale, along);
  }
  if (block_size < 0 || g.Rank(scale) != g.Rank(x)) {
    return g.Fail(absl::StrCat("scales ", g.Describe(scale), " of blocks of ", block_size,
                               " elements of ", g.Describe(x)));
  }
  Value spread = g.RepeatInterleave(scale, *at, block_size);
  const Dim extent = g.Extent(x, *at);
  // The last block may be shorter.
  if (spread && g.Extent(spread, *at) != extent) spread = g.Slice(spread, *at, 0, extent);
  return spread;
}

Value RoundToType(GraphBuilder& g, Value y, Value zero, ElementType type, bool saturates) {
  if (!y) return nullptr;
  const auto scalar = ScalarFor(type);
  if (!scalar) return g.Fail("quantization to " + std::string(TypeName(type)));
  if (IsFloat(*scalar)) {
    if (zero) y = g.Add(y, g.Cast(zero, y->dtype.scalar()));
    if (!y) return nullptr;
    return CastTo(g, y, TypeFor(y->dtype.scalar()), type, saturates);
  }
  const std::optional<IntegerRange> range = RangeOf(type);
  if (!range || BitWidth(*scalar) > 32) {
    return g.Fail("quantization to " + std::string(TypeName(type)));
  }
  // A zero point of sixteen bits needs more digits than f16 has.
  const Scalar wide = y->dtype.scalar() == Scalar::kF64 ? Scalar::kF64 : Scalar::kF32;
  Value rounded = g.Round(g.Cast(y, wide));
  if (zero) rounded = g.Add(rounded, g.Cast(zero, wide));
  const Value low = g.Like(rounded, static_cast<double>(range->min));
  const Value high = g.Like(rounded, static_cast<double>(range->max));
  return g.Cast(g.Clip(rounded, low, high), *scalar);
}

Value Dequantize(GraphBuilder& g, Value x, Value scale, Value zero) {
  if (!x || !scale) return nullptr;
  // The difference of integers is exact.
  Value centred = x;
  if (zero && !x->dtype.is_float()) {
    centred = Centred(g, x, zero);
  } else if (zero) {
    centred = g.Sub(g.Cast(x, Scalar::kF32), g.Cast(zero, Scalar::kF32));
  }
  return g.Mul(g.Cast(centred, Scalar::kF32), g.Cast(scale, Scalar::kF32));
}

DynamicQuantization QuantizeDynamically(GraphBuilder& g, Value x) {
  if (!x) return {};
  Ints axes;
  for (size_t i = 0; i < g.Rank(x); ++i) axes.push_back(static_cast<int64_t>(i));
  const Value none = g.Like(x, 0);
  const Value most = g.Max(g.Reduce(Op::kMax, x, axes), none);
  const Value least = g.Min(g.Reduce(Op::kMin, x, axes), none);
  const Value span = g.Sub(most, least);
  DynamicQuantization q;
  // Zeros alone have the scale of a span of one.
  q.scale = g.Div(g.Where(g.Eq(span, none), g.Like(x, 1), span), g.Like(x, 255));
  q.zero = RoundToType(g, g.Div(g.Neg(least), q.scale), nullptr, ElementType::kUint8);
  q.codes = RoundToType(g, g.Div(x, q.scale), q.zero, ElementType::kUint8);
  return q;
}

Value Centred(GraphBuilder& g, Value x, Value zero) {
  zero = OneZeroPoint(g, zero);
  const Value wide = g.Cast(x, Scalar::kI32);
  return zero ? g.Sub(wide, g.Cast(zero, Scalar::kI32)) : wide;
}

}  // namespace tg::onnx
