// Regions of images: pools over them, and which of them are kept.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "absl/strings/str_cat.h"
#include "frontend/common/loop_builder.h"
#include "frontend/onnx/operators.h"
#include "frontend/onnx/sampling.h"
#include "ir/value.h"

namespace tg::onnx {
namespace {

// Column i of a matrix.
Value Column(GraphBuilder& g, Value x, int64_t i) { return g.Squeeze(g.Slice(x, 1, i, i + 1), 1); }

bool HasRegions(NodeContext& c, Value x, Value regions, int64_t columns) {
  if (!x || !regions) return false;
  if (c.g.Rank(x) == 4 && c.g.Rank(regions) == 2 && c.g.Extent(regions, 1) == Dim(columns))
    return true;
  c.Fail(absl::StrCat("regions ", c.g.Describe(regions), " of ", c.g.Describe(x)));
  return false;
}

// The most points of a bin along an axis, whatever a region's extents are.
constexpr double kMaxPoints = 1 << 16;

// The points that a bin is sampled at along one axis.
struct BinPoints {
  Value coordinates;  // [regions, bins, points]
  Value counts;       // [regions, 1, 1], floats: how many of the points count
  int64_t most = 0;
};

// The sample points of the bins of each region along one axis. If `ratio` is 0, each bin is sampled
// at one point for each element that it covers. That number is known at import only if the regions
// are known; otherwise it is bounded by a region that covers the whole axis.
BinPoints PointsOf(NodeContext& c, Value from, Value to, int64_t bins, int64_t ratio,
                   const Dim& extent, bool half_pixel) {
  GraphBuilder& g = c.g;
  const Scalar type = from->dtype.scalar();
  const auto constant = [&](double v) { return g.Const(type, v); };
  Value length = g.Sub(to, from);
  if (!half_pixel) length = g.Max(length, constant(1));
  const Value size = g.Div(length, constant(static_cast<double>(bins)));
  Value counts = constant(static_cast<double>(ratio));
  BinPoints points;
  points.most = ratio;
  if (ratio <= 0) {
    counts = g.Max(g.Ceil(size), constant(0));
    if (const auto known = g.KnownNumbers(counts, /*with_inputs=*/true)) {
      double most = 1;
      for (const double v : *known) most = std::max(most, std::min(v, kMaxPoints));
      points.most = static_cast<int64_t>(most);
    } else if (extent.is_symbolic()) {
      c.Fail("a sampling_ratio of 0 over a symbolic extent");
      return {};
    } else {
      points.most = (extent.value() + bins - 1) / bins;
      counts = g.Min(counts, constant(static_cast<double>(points.most)));
    }
  }
  points.counts = g.Rank(counts) == 0 ? counts : g.Unsqueeze(g.Unsqueeze(counts, 1), 2);
  const auto wide = [&](Value v) { return g.Unsqueeze(g.Unsqueeze(v, 1), 2); };
  const Value bin = g.Unsqueeze(g.Arange(type, Dim(bins)), 1);
  const Value i = g.Add(g.Arange(type, Dim(points.most)), constant(0.5));
  // start + bin * size + (i + 0.5) * size / count
  const Value step = g.Div(wide(size), g.Max(points.counts, constant(1)));
  points.coordinates = g.Add(g.Add(wide(from), g.Mul(bin, wide(size))), g.Mul(i, step));
  return points;
}

void RoiAlign(NodeContext& c) {
  GraphBuilder& g = c.g;
  const Value x = c.In(0), regions = AsWideFloat(g, c.In(1)), batches = c.In(2);
  if (!HasRegions(c, x, regions, 4) || !batches) return;
  const std::string_view mode = c.String("mode", "avg");
  const int64_t height = c.Int("output_height", 1), width = c.Int("output_width", 1);
  const int64_t ratio = c.Int("sampling_ratio", 0);
  if ((mode != "avg" && mode != "max") || height < 1 || width < 1 || ratio < 0) {
    c.Fail(absl::StrCat("the mode '", std::string(mode), "' for ", height, " x ", width,
                        " bins, a sampling_ratio of ", ratio));
    return;
  }
  const bool averages = mode == "avg";
  // Before opset 16 there was no shift.
  const bool half_pixel =
      c.opset >= 16 && c.String("coordinate_transformation_mode", "half_pixel") == "half_pixel";
  const Value scale = g.Like(regions, c.Float("spatial_scale", 1));
  const Value shift = g.Like(regions, half_pixel ? 0.5 : 0);
  const auto edge = [&](int64_t i) { return g.Sub(g.Mul(Column(g, regions, i), scale), shift); };
  const Dim rows = g.Extent(x, 2), columns = g.Extent(x, 3);
  const BinPoints y = PointsOf(c, edge(1), edge(3), height, ratio, rows, half_pixel);
  const BinPoints z = PointsOf(c, edge(0), edge(2), width, ratio, columns, half_pixel);
  if (!g.ok()) return;
  // Up to an element beyond the image is its edge, farther is nothing.
  const auto taps_at = [&](Value at, const Dim& extent) {
    Taps taps = TapsAt(g, at, extent, Interpolation::kLinear, Border::kEdge, true);
    const Value end = g.DimValue(at->dtype.scalar(), extent);
    taps.inside = g.Unsqueeze(g.And(g.Ge(at, g.Like(at, -1)), g.Le(at, end)), -1);
    return taps;
  };
  // Points: [1, regions, height, width, y points, x points].
  const auto unsqueeze = [&](Value v, std::initializer_list<int64_t> axes) {
    for (const int64_t a : axes) v = g.Unsqueeze(v, a);
    return v;
  };
  const Taps taps[] = {
      {unsqueeze(g.Cast(batches, Scalar::kI32), {0, 2, 3, 4, 5, 6})},
      taps_at(unsqueeze(y.coordinates, {0, 3, 5}), rows),
      taps_at(unsqueeze(z.coordinates, {0, 2, 4}), columns),
  };
  Value sampled =
      Sample(g, g.Unsqueeze(g.SwapAxes(x, 0, 1), 0), taps, averages ? Op::kAdd : Op::kMax);
  if (!sampled) return;
  sampled = g.Squeeze(sampled, 0);  // [regions, height, width, y points, x points, channels]
  const Scalar type = sampled->dtype.scalar();
  if (ratio == 0) {
    const auto counts = [&](const BinPoints& p) {
      return g.Lt(g.Arange(p.counts->dtype.scalar(), Dim(p.most)),
                  p.counts);  // [regions, 1, points]
    };
    const Value counted =
        g.Unsqueeze(g.And(unsqueeze(counts(y), {2, 4}), unsqueeze(counts(z), {1, 3})), -1);
    const Value none = averages ? g.Like(sampled, 0) : g.ir().ConstBits(type, MinValue(type));
    sampled = g.Where(counted, sampled, none);
  }
  const Value number = g.Mul(unsqueeze(y.counts, {}), z.counts);
  Value pooled = g.Reduce(averages ? Op::kAdd : Op::kMax, sampled, {3, 4});
  if (averages) {
    Value divisor = g.Cast(g.Max(number, g.Like(number, 1)), type);
    if (g.Rank(divisor) > 0) divisor = g.Unsqueeze(divisor, 3);
    pooled = g.Div(pooled, divisor);
  } else if (ratio == 0) {
    const Value any = g.Gt(number, g.Like(number, 0));
    pooled = g.Where(g.Unsqueeze(any, 3), pooled, g.Like(pooled, 0));
  }
  c.Return(g.Cast(g.Permute(pooled, {0, 3, 1, 2}), x->dtype.scalar()), 0, c.TypeOf(0));
}

void MaxRoiPool(NodeContext& c) {
  GraphBuilder& g = c.g;
  const Value x = c.In(0), regions = AsWideFloat(g, c.In(1));
  const auto pooled = c.List("pooled_shape");
  if (!HasRegions(c, x, regions, 5)) return;
  if (!pooled || pooled->size() != 2 || (*pooled)[0] < 1 || (*pooled)[1] < 1) {
    c.Fail("a pooled_shape that is not of two extents");
    return;
  }
  const Value scale = g.Like(regions, c.Float("spatial_scale", 1)), one = g.Like(regions, 1);
  // Halves are rounded away from 0.
  const auto edge = [&](int64_t i) {
    const Value v = g.Mul(Column(g, regions, i), scale);
    return g.Mul(g.Sign(v), g.Floor(g.Add(g.Abs(v), g.Like(v, 0.5))));
  };
  // [regions, bins, extent]: whether a bin contains an element. Neighbouring bins overlap if they
  // end and begin within one element.
  const auto bins = [&](int64_t first, int64_t last, int64_t count, const Dim& extent) {
    const Value start = edge(first);
    const Value size = g.Div(g.Max(g.Add(g.Sub(edge(last), start), one), one),
                             g.Like(start, static_cast<double>(count)));
    const Scalar type = start->dtype.scalar();
    const Value bin = g.Arange(type, Dim(count));
    const Value width = g.Unsqueeze(size, 1), origin = g.Unsqueeze(start, 1);
    const Value from = g.Add(origin, g.Floor(g.Mul(bin, width)));
    const Value to = g.Add(origin, g.Ceil(g.Mul(g.Add(bin, one), width)));
    const Value i = g.Arange(type, extent);
    return g.And(g.Ge(i, g.Unsqueeze(from, -1)), g.Lt(i, g.Unsqueeze(to, -1)));
  };
  const Value rows = bins(2, 4, (*pooled)[0], g.Extent(x, 2));
  const Value columns = bins(1, 3, (*pooled)[1], g.Extent(x, 3));
  const Value least = g.ir().ConstBits(x->dtype, MinValue(x->dtype.scalar()));
  // [regions, channels, rows, columns], then an axis at a time.
  Value y = g.Gather(x, g.Cast(Column(g, regions, 0), Scalar::kI32), 0);
  const auto pool = [&](Value has, int64_t axis) {  // the pooled axis becomes the last
    y = g.Unsqueeze(g.SwapAxes(y, axis, -1), -2);
    y = g.Reduce(Op::kMax, g.Where(g.Unsqueeze(g.Unsqueeze(has, 1), 1), y, least), {-1});
  };
  pool(columns, 3);  // [regions, channels, rows, width]
  pool(rows, 2);     // [regions, channels, width, height]
  y = g.SwapAxes(y, 2, 3);
  const auto any = [&](Value has) { return g.Unsqueeze(g.Reduce(Op::kOr, has, {-1}), 1); };
  const Value filled = g.And(g.Unsqueeze(any(rows), 3), g.Unsqueeze(any(columns), 2));
  c.Return(g.Where(filled, y, g.Like(x, 0)), 0, c.TypeOf(0));
}

struct Box {
  float top, left, bottom, right;
  float Area() const { return (bottom - top) * (right - left); }
};

Box MakeBox(const double* numbers, bool centered) {
  float n[4];
  for (size_t i = 0; i < 4; ++i) n[i] = static_cast<float>(numbers[i]);
  if (centered) return {n[1] - n[3] / 2, n[0] - n[2] / 2, n[1] + n[3] / 2, n[0] + n[2] / 2};
  return {std::min(n[0], n[2]), std::min(n[1], n[3]), std::max(n[0], n[2]), std::max(n[1], n[3])};
}

// Whether the intersection is more than this part of the union.
bool Overlap(const Box& a, const Box& b, float threshold) {
  const Box both{std::max(a.top, b.top), std::max(a.left, b.left), std::min(a.bottom, b.bottom),
                 std::min(a.right, b.right)};
  if (both.bottom <= both.top || both.right <= both.left) return false;
  const float common = both.Area(), whole = a.Area() + b.Area() - common;
  return common > 0 && a.Area() > 0 && b.Area() > 0 && whole > 0 && common / whole > threshold;
}

// The corners of boxes, [batches, 1, n] each, and their areas.
struct Corners {
  Value top, left, bottom, right;
  Value Area(GraphBuilder& g) const { return g.Mul(g.Sub(bottom, top), g.Sub(right, left)); }
};

Corners CornersOf(GraphBuilder& g, Value boxes, bool centered) {
  Value n[4];
  for (int64_t i = 0; i < 4; ++i) {
    n[i] = g.Unsqueeze(g.Squeeze(g.Slice(boxes, 2, i, i + 1), 2), 1);
  }
  if (!centered) {
    return {g.Min(n[0], n[2]), g.Min(n[1], n[3]), g.Max(n[0], n[2]), g.Max(n[1], n[3])};
  }
  const Value half = g.Like(boxes, 0.5);
  const Value h = g.Mul(n[3], half), w = g.Mul(n[2], half);
  return {g.Sub(n[1], h), g.Sub(n[0], w), g.Add(n[1], h), g.Add(n[0], w)};
}

// As Overlap below.
Value Overlaps(GraphBuilder& g, const Corners& a, const Corners& b, Value threshold) {
  const Corners both{g.Max(a.top, b.top), g.Max(a.left, b.left), g.Min(a.bottom, b.bottom),
                     g.Min(a.right, b.right)};
  const Value zero = g.Like(threshold, 0), common = both.Area(g);
  const Value area = a.Area(g), other = b.Area(g);
  const Value whole = g.Sub(g.Add(area, other), common);
  Value result = g.And(g.Lt(both.top, both.bottom), g.Lt(both.left, both.right));
  for (const Value v : {common, area, other, whole}) result = g.And(result, g.Lt(zero, v));
  return g.And(result, g.Lt(threshold, g.Div(common, whole)));
}

// NonMaxSuppression of boxes and scores that depend on data. In each iteration, each class of a
// batch takes the box with the greatest score that is left, and drops what overlaps it.
void SuppressData(NodeContext& c) {
  GraphBuilder& g = c.g;
  const Value boxes = g.Cast(c.In(0), Scalar::kF32), scores = g.Cast(c.In(1), Scalar::kF32);
  const Shape shape = g.ShapeOf(scores);
  const Dim n = shape[2];
  const auto scalar = [&](size_t i, Scalar type) {
    return c.Has(i) ? g.Cast(g.Reshape(c.In(i), {}), type) : g.ConstInt(type, 0);
  };
  const Value most = scalar(2, Scalar::kI64), threshold = scalar(3, Scalar::kF32);
  // An iteration more than there are boxes finds none.
  const auto known = g.KnownInts(most, /*with_inputs=*/true);
  const std::optional<int64_t> greatest = g.Greatest(n);
  const bool few = known && greatest && (*known)[0] < *greatest;
  const Dim trip = few ? Dim(std::max<int64_t>((*known)[0], 0)) : n;
  if (trip.Is(0)) {
    c.Return(g.Full({Dim(0), Dim(3)}, g.ConstInt(Scalar::kI64, 0)));
    return;
  }
  const auto any = [&](Value v) { return g.Reduce(Op::kOr, v, {-1}, /*keep=*/true); };
  const auto goes_on = [&](Value left) { return g.Reduce(Op::kOr, left, {0, 1, 2}); };
  Value left = g.Full(shape, g.Lt(g.ConstInt(Scalar::kI64, 0), most));
  if (c.Has(4)) left = g.And(left, g.Lt(scalar(4, Scalar::kF32), scores));
  left = g.Stored(left);
  const Corners all = CornersOf(g, boxes, c.Int("center_point_box", 0) != 0);

  frontend::LoopBuilder loop(g, c.node.outputs[0], trip);
  const Value goes = loop.AddState(goes_on(left));
  const Value candidates = loop.AddState(left);
  const Value taken = loop.AddState(
      g.Full({shape[0], shape[1], trip}, g.ConstInt(Scalar::kI32, -1)));  // by iteration
  if (!goes || !candidates || !taken) return;
  const Value least = g.ir().ConstBits(kF32, MinValue(Scalar::kF32));
  const Value place = g.Arange(Scalar::kI32, n);
  const Value best = g.Reduce(Op::kMax, g.Where(candidates, scores, least), {-1}, /*keep=*/true);
  const Value is_best = g.And(candidates, g.Eq(scores, best));
  const Value first = g.Stored(g.Reduce(
      Op::kMin, g.Where(is_best, place, g.DimValue(Scalar::kI32, n)), {-1}, /*keep=*/true));
  const Value chosen = g.Eq(place, first);
  const auto of_chosen = [&](Value corner) {
    return g.Stored(g.Sum(g.Where(chosen, corner, g.Like(corner, 0)), {-1}, /*keep=*/true));
  };
  const Corners its{of_chosen(all.top), of_chosen(all.left), of_chosen(all.bottom),
                    of_chosen(all.right)};
  const Value dropped = g.Or(chosen, Overlaps(g, its, all, threshold));
  const Value step = g.DimValue(Scalar::kI32, loop.step());
  const Value after = g.Cast(g.Add(step, g.ConstInt(Scalar::kI32, 1)), Scalar::kI64);
  const Value remaining = g.And(g.And(candidates, g.Not(dropped)), g.Lt(after, most));
  const Value here = g.And(any(is_best), g.Eq(g.Arange(Scalar::kI32, trip), step));
  loop.SetNext(0, goes_on(remaining));
  loop.SetNext(1, remaining);
  loop.SetNext(2, g.Where(here, first, taken));
  loop.SetCondition(0);
  if (!loop.Finish()) return;

  const Value numbers = g.Reshape(loop.Last(2), {g.NumElements({shape[0], shape[1], trip})});
  const Value at = c.TruePlaces(g.Le(g.Like(numbers, 0), numbers), 0);
  const Value row = g.Binary(Op::kFloorDiv, at, g.DimValue(Scalar::kI64, trip));
  const Value classes = g.DimValue(Scalar::kI64, shape[1]);
  const Value columns[] = {g.Binary(Op::kFloorDiv, row, classes),
                           g.Binary(Op::kFloorMod, row, classes),
                           g.Cast(g.Gather(numbers, at, 0), Scalar::kI64)};
  c.Return(g.Stack(columns, 1));
}

void NonMaxSuppression(NodeContext& c) {
  GraphBuilder& g = c.g;
  if (!c.In(0) || !c.In(1)) return;
  const Shape shape = g.ShapeOf(c.In(0)), rated = g.ShapeOf(c.In(1));
  if (shape.size() != 3 || rated.size() != 3 || shape[2] != Dim(4) || shape[0] != rated[0] ||
      shape[1] != rated[2]) {
    c.Fail(absl::StrCat("boxes ", g.Describe(c.In(0)), " with scores ", g.Describe(c.In(1))));
    return;
  }
  for (size_t i = 0; i < c.num_inputs(); ++i) {
    if (!c.Has(i) || c.CountedBits(i)) continue;
    SuppressData(c);
    return;
  }
  const auto boxes = c.KnownNumbers(0), scores = c.KnownNumbers(1);
  if (!boxes || !scores) return;
  const auto scalar = [&](size_t i, double otherwise) {
    const auto known = c.Has(i) ? c.KnownNumbers(i) : std::nullopt;
    return known && !known->empty() ? (*known)[0] : otherwise;
  };
  const auto most = static_cast<int64_t>(scalar(2, 0));
  const auto threshold = static_cast<float>(scalar(3, 0));
  const double least = scalar(4, -HUGE_VAL);
  if (!g.ok()) return;
  const bool centered = c.Int("center_point_box", 0) != 0;
  const auto batches = static_cast<size_t>(shape[0].value()),
             n = static_cast<size_t>(shape[1].value());
  const auto classes = static_cast<size_t>(rated[1].value());
  Ints selected;
  for (size_t i = 0; i < batches * classes; ++i) {
    const double* ratings = scores->data() + i * n;
    std::vector<size_t> order;
    for (size_t k = 0; k < n; ++k) {
      if (!c.Has(4) || ratings[k] > least) order.push_back(k);
    }
    std::stable_sort(order.begin(), order.end(),
                     [&](size_t a, size_t b) { return ratings[a] > ratings[b]; });
    std::vector<Box> retained;
    for (const size_t k : order) {
      if (static_cast<int64_t>(retained.size()) >= most) break;
      const Box box = MakeBox(boxes->data() + (i / classes * n + k) * 4, centered);
      if (std::any_of(retained.begin(), retained.end(),
                      [&](const Box& b) { return Overlap(box, b, threshold); })) {
        continue;
      }
      retained.push_back(box);
      for (const size_t v : {i / classes, i % classes, k})
        selected.push_back(static_cast<int64_t>(v));
    }
  }
  const auto count = static_cast<int64_t>(selected.size() / 3);
  c.Return(g.Constant(Scalar::kI64, {count, 3}, std::move(selected)));
}

constexpr Operator kRegionOperators[] = {
    {"", "MaxRoiPool", 1, MaxRoiPool},
    {"", "NonMaxSuppression", 10, NonMaxSuppression},
    {"", "RoiAlign", 10, RoiAlign},
};

}  // namespace

std::span<const Operator> RegionOperators() { return kRegionOperators; }

}  // namespace tg::onnx
