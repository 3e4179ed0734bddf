#include "frontend/onnx/sampling.h"

#include "absl/strings/str_cat.h"
#include "ir/value.h"

namespace tg::onnx {

Value AsWideFloat(GraphBuilder& g, Value x) {
  if (!x || (x->dtype.is_float() && BitWidth(x->dtype.scalar()) >= 32)) return x;
  return g.Cast(x, Scalar::kF32);
}

Value AlongAxis(GraphBuilder& g, Value vector, size_t rank, size_t axis) {
  if (!vector) return nullptr;
  Shape shape(rank, Dim(1));
  shape[axis] = g.Extent(vector, 0);
  return g.Reshape(vector, shape);
}

namespace {

// Keys' cubic convolution kernel ("Cubic convolution interpolation for digital image processing",
// 1981) of distances from 0 to 2.
Value Cubic(GraphBuilder& g, Value d) {
  constexpr double a = -0.75;
  const auto times = [&](Value v, double k) { return g.Mul(v, g.Like(d, k)); };
  const auto plus = [&](Value v, double k) { return g.Add(v, g.Like(d, k)); };
  const Value near = plus(g.Mul(g.Mul(plus(times(d, a + 2), -(a + 3)), d), d), 1);
  const Value far = plus(g.Mul(plus(g.Mul(plus(times(d, a), -5 * a), d), 8 * a), d), -4 * a);
  return g.Where(g.Le(d, g.Like(d, 1)), near, far);
}

// Integers reflected at the ends of an axis until they are inside.
Value Reflect(GraphBuilder& g, Value places, Value extent, bool aligned) {
  const Value one = g.Like(places, 1);
  // Aligned: 0 1 2 3 2 1, else 0 1 2 3 3 2 1 0.
  Value period = g.Mul(aligned ? g.Sub(extent, one) : extent, g.Like(places, 2));
  if (aligned) period = g.Max(period, one);
  const Value in_period = g.Binary(Op::kFloorMod, places, period);
  const Value back = g.Sub(period, in_period);
  return g.Min(in_period, aligned ? back : g.Sub(back, one));
}

}  // namespace

Taps TapsAt(GraphBuilder& g, Value x, const Dim& extent, Interpolation interpolation, Border border,
            bool aligned) {
  if (!x) return {};
  const Scalar type = x->dtype.scalar();
  const Value n = g.DimValue(Scalar::kI32, extent);
  const Value last = g.Sub(g.Cast(n, type), g.Like(x, 1));
  const Value zero = g.Like(x, 0);
  // Clamps the coordinate, so that it fits into an integer. Far outside, all taps are 0 or at the
  // edge anyway.
  Value low = g.Like(x, -1e9), high = g.Like(x, 1e9);
  if (border == Border::kZeros) {
    low = g.Like(x, -4);
    high = g.Add(last, g.Like(x, 4));
  }
  const bool nearest = interpolation == Interpolation::kNearest;
  if (nearest) x = g.Round(x);
  if (border == Border::kEdge) {
    // Between an outermost element and the axis's end a cubic still weighs the elements inside.
    const Value half = g.Like(x, aligned ? 0 : 0.5);
    const Value beyond = g.Or(g.Lt(x, g.Sub(zero, half)), g.Gt(x, g.Add(last, half)));
    x = g.Where(beyond, g.Clip(x, zero, last), x);
  } else {
    x = g.Clip(x, low, high);
  }
  const Value below = nearest ? x : g.Floor(x);
  const bool cubic = interpolation == Interpolation::kCubic;
  const int64_t first = cubic ? -1 : 0, count = nearest ? 1 : cubic ? 4 : 2;
  const Value offset = g.Add(g.Arange(Scalar::kI32, Dim(count)), g.ConstInt(Scalar::kI32, first));
  Taps taps;
  if (!nearest) {
    const Value behind = g.Unsqueeze(g.Sub(x, below), -1);
    const Value distance = g.Abs(g.Sub(behind, g.Cast(offset, type)));
    taps.weights = cubic ? Cubic(g, distance) : g.Sub(g.Like(distance, 1), distance);
  }
  taps.places = g.Add(g.Unsqueeze(g.Cast(below, Scalar::kI32), -1), offset);
  const Value none = g.ConstInt(Scalar::kI32, 0);
  switch (border) {
    case Border::kZeros:
      taps.inside = g.And(g.Ge(taps.places, none), g.Lt(taps.places, n));
      break;
    case Border::kEdge:
      taps.places = g.Clip(taps.places, none, g.Sub(n, g.ConstInt(Scalar::kI32, 1)));
      break;
    case Border::kReflect:
      taps.places = Reflect(g, taps.places, n, aligned);
      break;
  }
  return taps;
}

Value Sample(GraphBuilder& g, Value x, std::span<const Taps> axes, Op reduce) {
  const size_t n = axes.size();
  if (!x || n == 0) return nullptr;
  if (g.Rank(x) != n + 2)
    return g.Fail(absl::StrCat("samples along ", n, " axes of ", g.Describe(x)));
  const Shape shape = g.ShapeOf(x);
  // The taps of each axis become an axis of the result.
  const auto spread = [&](Value taps, size_t axis) -> Value {
    if (!taps) return nullptr;
    Shape to = g.ShapeOf(taps);
    const Dim count = to.back();
    to.pop_back();
    for (size_t i = 0; i < n; ++i) to.push_back(i == axis ? count : Dim(1));
    return g.Reshape(taps, to);
  };
  const auto both = [&](Value a, Value b, Value (GraphBuilder::*combine)(Value, Value)) {
    return !a ? b : !b ? a : (g.*combine)(a, b);
  };
  Value flat = nullptr, weight = nullptr, inside = nullptr;
  for (size_t i = 0; i < n; ++i) {
    const Value places = spread(axes[i].places, i);
    if (!places) return nullptr;
    flat = flat ? g.Add(g.Mul(flat, g.DimValue(Scalar::kI32, shape[2 + i])), places) : places;
    weight = both(weight, spread(axes[i].weights, i), &GraphBuilder::Mul);
    inside = both(inside, spread(axes[i].inside, i), &GraphBuilder::And);
  }
  const Dim elements = g.NumElements(Shape(shape.begin() + 2, shape.end()));
  // Index `elements` is beyond the last element, and a gather of it gives 0.
  if (inside) flat = g.Where(inside, flat, g.DimValue(Scalar::kI32, elements));
  const Value table = g.SwapAxes(g.Reshape(x, {shape[0], shape[1], elements}), 1, 2);
  Value y = g.GatherNd(table, g.Unsqueeze(flat, -1), 1);
  if (!y) return nullptr;
  if (weight) {
    y = AsWideFloat(g, y);
    y = g.Mul(y, g.Cast(g.Unsqueeze(weight, -1), y->dtype.scalar()));
  }
  Ints taps;
  for (size_t i = 0; i < n; ++i) taps.push_back(-2 - static_cast<int64_t>(i));
  return g.Reduce(reduce, y, taps);
}

}  // namespace tg::onnx
