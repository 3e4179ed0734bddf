// Elements at computed coordinates, and convolutions over them.
#include <vector>

#include "absl/strings/str_cat.h"
#include "frontend/onnx/operators.h"
#include "frontend/onnx/sampling.h"
#include "frontend/onnx/windows.h"
#include "ir/value.h"

namespace tg::onnx {
namespace {

// The elements of the last axis as a value each.
Value Component(GraphBuilder& g, Value x, int64_t axis, int64_t i) {
  return g.Squeeze(g.Slice(x, axis, i, i + 1), axis);
}

// [batch, points..., channels] as [batch, channels, points...].
Value ChannelsSecond(GraphBuilder& g, Value x) {
  if (!x) return nullptr;
  Ints order{0, static_cast<int64_t>(g.Rank(x)) - 1};
  for (size_t i = 1; i + 1 < g.Rank(x); ++i) order.push_back(static_cast<int64_t>(i));
  return g.Permute(x, order);
}

void GridSample(NodeContext& c) {
  GraphBuilder& g = c.g;
  const Value x = c.In(0), grid = AsWideFloat(g, c.In(1));
  if (!x || !grid) return;
  const size_t rank = g.Rank(x), n = rank - 2;
  if (rank < 3 || g.Rank(grid) != rank ||
      g.Extent(grid, -1 + static_cast<int64_t>(rank)) != Dim(static_cast<int64_t>(n))) {
    c.Fail(absl::StrCat("a grid ", g.Describe(grid), " into ", g.Describe(x)));
    return;
  }
  // Opset 16 calls the modes after two axes.
  const std::string_view mode = c.String("mode", "linear"),
                         padding = c.String("padding_mode", "zeros");
  Interpolation interpolation = Interpolation::kLinear;
  if (mode == "nearest")
    interpolation = Interpolation::kNearest;
  else if (mode == "cubic" || mode == "bicubic")
    interpolation = Interpolation::kCubic;
  else if (mode != "linear" && mode != "bilinear")
    c.Fail(absl::StrCat("the mode '", std::string(mode), "'"));
  Border border = Border::kZeros;
  if (padding == "border")
    border = Border::kEdge;
  else if (padding == "reflection")
    border = Border::kReflect;
  else if (padding != "zeros")
    c.Fail(absl::StrCat("the padding_mode '", std::string(padding), "'"));
  const bool aligned = c.Int("align_corners", 0) != 0;
  const auto like = [&](double k) { return g.Like(grid, k); };
  std::vector<Taps> taps;
  for (size_t i = 0; i < n && g.ok(); ++i) {
    // The innermost axis comes first.
    const Value at = Component(g, grid, -1, static_cast<int64_t>(n - 1 - i));
    const Dim& extent = g.Extent(x, static_cast<int64_t>(2 + i));
    const Value length = g.DimValue(grid->dtype.scalar(), extent);
    const Value from_zero = g.Add(at, like(1));
    const Value coordinate = aligned ? g.Mul(g.Mul(from_zero, like(0.5)), g.Sub(length, like(1)))
                                     : g.Mul(g.Sub(g.Mul(from_zero, length), like(1)), like(0.5));
    taps.push_back(TapsAt(g, coordinate, extent, interpolation, border, aligned));
  }
  if (!g.ok()) return;
  c.Return(g.Cast(ChannelsSecond(g, Sample(g, x, taps)), x->dtype.scalar()), 0, c.TypeOf(0));
}

void AffineGrid(NodeContext& c) {
  GraphBuilder& g = c.g;
  const Value given = c.In(0), theta = AsWideFloat(g, given);
  const auto size = c.KnownDims(1);
  if (!theta || !size) return;
  const size_t n = size->size() - 2;
  if (size->size() < 3 || g.Rank(theta) != 3 ||
      g.Extent(theta, 1) != Dim(static_cast<int64_t>(n)) ||
      g.Extent(theta, 2) != Dim(static_cast<int64_t>(n) + 1)) {
    c.Fail(absl::StrCat("transformations ", g.Describe(theta), " for ", size->size(), " axes"));
    return;
  }
  const Scalar type = theta->dtype.scalar();
  const bool aligned = c.Int("align_corners", 0) != 0;
  // [batch, 1..., n, n + 1]
  Shape shape(n + 1, Dim(1));
  shape[0] = g.Extent(theta, 0);
  shape.insert(shape.end(), {Dim(static_cast<int64_t>(n)), Dim(static_cast<int64_t>(n) + 1)});
  const Value factors = g.Reshape(theta, shape);
  Value grid = Component(g, factors, -1, static_cast<int64_t>(n));
  for (size_t i = 0; i < n; ++i) {
    const Dim& extent = (*size)[2 + i];
    const Value k = g.Arange(type, extent);
    const auto like = [&](double v) { return g.Like(k, v); };
    const Value length = g.DimValue(type, extent);
    // Coordinates from -1 to 1, which are the centers of the outermost elements or their outer
    // edges. A single element is at 0.
    const Value twice = g.Mul(k, like(2));
    const Value centered =
        aligned ? g.Sub(twice, g.Sub(length, like(1))) : g.Sub(g.Add(twice, like(1)), length);
    const Value at = g.Div(centered, aligned ? g.Max(g.Sub(length, like(1)), like(1)) : length);
    // The innermost axis comes first.
    const Value column = Component(g, factors, -1, static_cast<int64_t>(n - 1 - i));
    grid = g.Add(grid, g.Mul(column, AlongAxis(g, at, n + 2, 1 + i)));
  }
  c.Return(g.Cast(grid, given->dtype.scalar()), 0, c.TypeOf(0));
}

void DeformConv(NodeContext& c) {
  GraphBuilder& g = c.g;
  const Value x = c.In(0), weight = AsWideFloat(g, c.In(1)), offset = AsWideFloat(g, c.In(2));
  if (!x || !weight || !offset) return;
  const size_t rank = g.Rank(x), n = rank - 2;
  if (rank < 3 || g.Rank(weight) != rank || g.Rank(offset) != rank) {
    c.Fail(absl::StrCat("a convolution of ", g.Describe(x), " with ", g.Describe(weight), " at ",
                        g.Describe(offset)));
    return;
  }
  const Shape shape = g.ShapeOf(x), filters = g.ShapeOf(weight), places = g.ShapeOf(offset);
  const int64_t groups = c.Int("group", 1), offset_groups = c.Int("offset_group", 1);
  Ints kernel;
  int64_t taps = 1;
  for (size_t i = 0; i < n; ++i) {
    if (filters[2 + i].is_symbolic()) continue;
    kernel.push_back(filters[2 + i].value());
    taps *= kernel.back();
  }
  const auto axes = static_cast<int64_t>(n);
  const bool fits = kernel.size() == n && taps > 0 && groups > 0 && offset_groups > 0 &&
                    !shape[1].is_symbolic() && !filters[0].is_symbolic() &&
                    filters[1] == Dim(shape[1].value() / groups) &&
                    shape[1].value() % groups == 0 && filters[0].value() % groups == 0 &&
                    shape[1].value() % offset_groups == 0 &&
                    places[1] == Dim(offset_groups * taps * axes);
  if (!fits) {
    c.Fail(absl::StrCat("a convolution of ", g.Describe(x), " with ", g.Describe(weight), " at ",
                        g.Describe(offset), " in ", groups, " groups, ", offset_groups,
                        " of the offsets"));
    return;
  }
  const auto w = WindowOf(c, x, kernel);
  if (!w) return;
  const Shape out(places.begin() + 2, places.end());
  for (size_t i = 0; i < n; ++i) {
    if (w->pads_begin[i].is_symbolic()) {
      c.Fail("auto_pad with a stride over a symbolic extent");
      return;
    }
    if (shape[2 + i].is_symbolic() || out[i].is_symbolic()) continue;
    const int64_t free = shape[2 + i].value() + w->pads_begin[i].value() + w->pads_end[i].value() -
                         w->dilations[i] * (kernel[i] - 1) - 1;
    if (free >= 0 && free / w->strides[i] + 1 == out[i].value()) continue;
    c.Fail(absl::StrCat("offsets of ", out[i].value(), " windows over ", shape[2 + i].value(),
                        " elements"));
    return;
  }
  // Groups of offsets count as batches: [batch, kernel..., axis, out...].
  const Dim batches = g.MulDim(shape[0], Dim(offset_groups));
  Shape split{batches};
  split.insert(split.end(), filters.begin() + 2, filters.end());
  Shape points = split;
  split.push_back(Dim(axes));
  split.insert(split.end(), out.begin(), out.end());
  points.insert(points.end(), out.begin(), out.end());
  const Value offsets = g.Reshape(offset, split);
  std::vector<Taps> sampled;
  for (size_t i = 0; i < n; ++i) {
    const Scalar type = offset->dtype.scalar();
    const auto numbers = [&](const Dim& count, int64_t step, size_t axis) {
      const Value k = g.Mul(g.Arange(Scalar::kI32, count), g.ConstInt(Scalar::kI32, step));
      return AlongAxis(g, g.Cast(k, type), points.size(), axis);
    };
    const Value start = g.Sub(numbers(out[i], w->strides[i], 1 + n + i),
                              g.Const(type, static_cast<double>(w->pads_begin[i].value())));
    const Value tap = g.Add(start, numbers(Dim(kernel[i]), w->dilations[i], 1 + i));
    const Value at = g.Add(tap, Component(g, offsets, 1 + axes, static_cast<int64_t>(i)));
    sampled.push_back(TapsAt(g, at, shape[2 + i], Interpolation::kLinear, Border::kZeros, true));
  }
  Shape grouped{batches, Dim(shape[1].value() / offset_groups)};
  grouped.insert(grouped.end(), shape.begin() + 2, shape.end());
  Value y = Sample(g, g.Reshape(x, grouped), sampled);
  if (!y) return;
  if (c.Has(4)) {
    y = g.Mul(y, g.Unsqueeze(g.Reshape(g.Cast(c.In(4), y->dtype.scalar()), points), -1));
  }
  // One product for each group: [filters, channels and kernel] x [channels and kernel, out].
  const int64_t depth = filters[1].value() * taps;
  const Dim windows = g.NumElements(out);
  y = g.Reshape(ChannelsSecond(g, y), {shape[0], Dim(groups), Dim(depth), windows});
  const Value rows = g.Reshape(g.Cast(weight, y ? y->dtype.scalar() : Scalar::kF32),
                               {Dim(groups), Dim(filters[0].value() / groups), Dim(depth)});
  Shape result{shape[0], filters[0]};
  result.insert(result.end(), out.begin(), out.end());
  y = g.Reshape(g.MatMul(rows, y), result);
  if (c.Has(3) && y) y = g.Add(y, AlongAxis(g, g.Cast(c.In(3), y->dtype.scalar()), rank, 1));
  c.Return(g.Cast(y, x->dtype.scalar()), 0, c.TypeOf(0));
}

// Blocks that overlap, summed at their places in an image.
void Col2Im(NodeContext& c) {
  GraphBuilder& g = c.g;
  const Value x = c.In(0);
  const auto image = c.KnownDims(1);
  const auto block = c.KnownInts(2);
  if (!x || !image || !block) return;
  const size_t n = block->size();
  GraphBuilder::Window w;
  w.kernel = *block;
  w.strides = c.List("strides").value_or(Ints(n, 1));
  w.dilations = c.List("dilations").value_or(Ints(n, 1));
  const Ints pads = c.List("pads").value_or(Ints(2 * n, 0));
  int64_t taps = 1;
  bool positive = w.strides.size() == n && w.dilations.size() == n;
  for (size_t i = 0; i < n && positive; ++i) {
    taps *= w.kernel[i];
    positive = w.kernel[i] > 0 && w.strides[i] > 0 && w.dilations[i] > 0;
  }
  if (g.Rank(x) != 3 || n == 0 || image->size() != n || pads.size() != 2 * n || !positive ||
      taps < 1 || g.Extent(x, 1).is_symbolic() || g.Extent(x, 1).value() % taps != 0) {
    c.Fail(absl::StrCat("blocks of ", n, " axes in ", g.Describe(x), " for an image of ",
                        image->size()));
    return;
  }
  w.pads_begin.assign(pads.begin(), pads.begin() + static_cast<ptrdiff_t>(n));
  w.pads_end.assign(pads.begin() + static_cast<ptrdiff_t>(n), pads.end());
  // [batch, channels, windows..., kernel...]
  Shape shape{g.Extent(x, 0), Dim(g.Extent(x, 1).value() / taps)};
  Ints order{0, 1};
  for (const int64_t k : *block) shape.push_back(Dim(k));
  for (size_t i = 0; i < n; ++i) {
    const int64_t reach = w.dilations[i] * (w.kernel[i] - 1) + 1;
    const Dim free = g.AddDim((*image)[i], Dim(pads[i] + pads[n + i] - reach + w.strides[i]));
    shape.push_back(g.FloorDivDim(free, w.strides[i]));
    order.push_back(static_cast<int64_t>(2 + n + i));
  }
  for (size_t i = 0; i < n; ++i) order.push_back(static_cast<int64_t>(2 + i));
  c.Return(g.FoldWindows(g.Permute(g.Reshape(x, shape), order), w, *image), 0, c.TypeOf(0));
}

constexpr Operator kSamplingOperators[] = {
    {"", "AffineGrid", 20, AffineGrid},
    {"", "Col2Im", 18, Col2Im},
    {"", "DeformConv", 19, DeformConv},
    {"", "GridSample", 16, GridSample},
};

}  // namespace

std::span<const Operator> SamplingOperators() { return kSamplingOperators; }

}  // namespace tg::onnx
