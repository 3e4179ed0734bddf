// Resampling: each axis by itself, as a weighted sum of a few elements that are gathered.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "absl/strings/str_cat.h"
#include "frontend/onnx/operators.h"
#include "ir/value.h"

namespace tg::onnx {
namespace {

// The attributes, which are the same for all axes.
struct Resampling {
  std::string_view mode = "nearest", coordinates = "half_pixel", rounding = "round_prefer_floor";
  double cubic = -0.75;
  bool excludes_outside = false, antialiases = false;
};

// One axis: element i of the result is the sum of weights[t][i] * x[indices[t][i]] over t.
struct AxisTaps {
  std::vector<Ints> indices;
  std::vector<std::vector<double>> weights;
  Ints outside;  // 1 where the result lies beyond the input (tf_crop_and_resize)
};

// Where element i of the result lies on the axis of the input.
double Coordinate(const Resampling& r, double i, int64_t in, int64_t out, double scale,
                  double roi_start, double roi_end) {
  const double length = scale * static_cast<double>(in), last = static_cast<double>(in) - 1;
  if (r.coordinates == "align_corners") return length == 1 ? 0 : i * last / (length - 1);
  if (r.coordinates == "asymmetric") return i / scale;
  if (r.coordinates == "tf_half_pixel_for_nn") return (i + 0.5) / scale;
  if (r.coordinates == "tf_crop_and_resize") {
    const double span = (roi_end - roi_start) * last;
    return roi_start * last + (length == 1 ? span / 2 : i * span / (length - 1));
  }
  if (r.coordinates == "pytorch_half_pixel" && length == 1) return -0.5;
  double offset = 0;
  if (r.coordinates == "half_pixel_symmetric") {
    offset = static_cast<double>(in) / 2 * (1 - static_cast<double>(out) / length);
  }
  return offset + (i + 0.5) / scale - 0.5;
}

// Keys' cubic convolution kernel, "Cubic convolution interpolation for digital image processing",
// 1981.
double Cubic(double x, double a) {
  x = std::abs(x);
  if (x <= 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
  return x < 2 ? ((a * x - 5 * a) * x + 8 * a) * x - 4 * a : 0;
}

// The weights of the elements first, first + 1, ... The number `first` is relative to the element
// below the coordinate; `ratio`, in (0, 1], is the distance of the coordinate from that element.
std::vector<double> Weights(const Resampling& r, double ratio, double scale, int64_t* first) {
  const bool cubic = r.mode == "cubic";
  // Shrinking with antialiasing widens the kernel.
  const double stretch = r.antialiases ? std::min(scale, 1.0) : 1;
  const double support = cubic ? 2 : 1;
  *first = static_cast<int64_t>(std::floor(-support / stretch)) + 1;
  std::vector<double> weights;
  double sum = 0;
  for (int64_t k = *first; k < 2 - *first; ++k) {
    const double d = (static_cast<double>(k) - ratio) * stretch;
    weights.push_back(cubic ? Cubic(d, r.cubic) : std::clamp(1 - std::abs(d), 0.0, 1.0));
    sum += weights.back();
  }
  if (r.antialiases) {
    for (double& w : weights) w /= sum;
  }
  return weights;
}

int64_t Nearest(const Resampling& r, double x) {
  const double low = std::floor(x);
  if (x == low) return static_cast<int64_t>(low);
  const double rest = x - low;
  const bool up = r.rounding == "ceil" || (r.rounding == "round_prefer_ceil" && rest >= 0.5) ||
                  (r.rounding == "round_prefer_floor" && rest > 0.5);
  return static_cast<int64_t>(low) + (up ? 1 : 0);
}

AxisTaps MakeTaps(const Resampling& r, int64_t in, int64_t out, double scale, double roi_start,
                  double roi_end) {
  AxisTaps taps;
  taps.outside.assign(static_cast<size_t>(out), 0);
  for (int64_t i = 0; i < out; ++i) {
    const auto at = static_cast<size_t>(i);
    const double x = Coordinate(r, static_cast<double>(i), in, out, scale, roi_start, roi_end);
    const bool crops = r.coordinates == "tf_crop_and_resize";
    taps.outside[at] = crops && (x < 0 || x > static_cast<double>(in) - 1);
    int64_t first = Nearest(r, x);
    std::vector<double> weights{1};
    if (r.mode != "nearest") {
      const double below = std::ceil(x) - 1;  // the ratio is 1 at a whole number
      weights = Weights(r, x - below, scale, &first);
      first += static_cast<int64_t>(below);
    }
    if (r.excludes_outside) {
      double sum = 0;
      for (size_t t = 0; t < weights.size(); ++t) {
        const int64_t k = first + static_cast<int64_t>(t);
        if (k < 0 || k >= in) weights[t] = 0;
        sum += weights[t];
      }
      for (double& w : weights) w /= sum;
    }
    if (taps.indices.size() < weights.size()) {
      taps.indices.resize(weights.size(), Ints(static_cast<size_t>(out), 0));
      taps.weights.resize(weights.size(), std::vector<double>(static_cast<size_t>(out), 0.0));
    }
    for (size_t t = 0; t < weights.size(); ++t) {
      taps.indices[t][at] = std::clamp<int64_t>(first + static_cast<int64_t>(t), 0, in - 1);
      taps.weights[t][at] = weights[t];
    }
  }
  return taps;
}

Value Along(GraphBuilder& g, Value vector, size_t rank, int64_t axis) {
  Shape shape(rank, Dim(1));
  shape[static_cast<size_t>(axis)] = g.Extent(vector, 0);
  return g.Reshape(vector, shape);
}

// x's elements at these places of an axis.
Value Pick(GraphBuilder& g, Value x, int64_t axis, const Ints& indices) {
  const int64_t in = g.Extent(x, axis).value(), out = static_cast<int64_t>(indices.size());
  // Each element a whole number of times in a row needs no table.
  if (out % in == 0) {
    bool repeats = true;
    for (int64_t i = 0; i < out; ++i) repeats &= indices[static_cast<size_t>(i)] == i / (out / in);
    if (repeats) return g.RepeatInterleave(x, axis, out / in);
  }
  if (in % out == 0) {
    const int64_t step = in / out, start = indices[0];
    bool strides = start < step;
    for (int64_t i = 0; i < out; ++i)
      strides &= indices[static_cast<size_t>(i)] == start + i * step;
    if (strides) return g.Slice(x, axis, start, in, step);
  }
  return g.Gather(x, g.Constant1D(Scalar::kI32, indices), axis);
}

Value ResampleAxis(GraphBuilder& g, Value x, int64_t axis, const AxisTaps& taps) {
  if (taps.indices.size() == 1) return Pick(g, x, axis, taps.indices[0]);
  // With many taps one product with a matrix reads less.
  constexpr size_t kMaxGatheredTaps = 4;
  const int64_t in = g.Extent(x, axis).value(), out = static_cast<int64_t>(taps.outside.size());
  const Scalar type = x->dtype.scalar();
  if (taps.indices.size() > kMaxGatheredTaps) {
    if (in > kMaxTableElements / out) {
      return g.Fail(absl::StrCat("a smooth resize of ", in, " elements to ", out));
    }
    Ints bits(static_cast<size_t>(in * out), BitsFromDouble(type, 0));
    std::vector<double> matrix(static_cast<size_t>(in * out), 0);
    for (size_t t = 0; t < taps.indices.size(); ++t) {
      for (size_t i = 0; i < static_cast<size_t>(out); ++i) {
        matrix[i * static_cast<size_t>(in) + static_cast<size_t>(taps.indices[t][i])] +=
            taps.weights[t][i];
      }
    }
    for (size_t i = 0; i < matrix.size(); ++i) bits[i] = BitsFromDouble(type, matrix[i]);
    const Value weights = g.SwapAxes(g.Constant(type, {out, in}, std::move(bits)), 0, 1);
    return g.SwapAxes(g.MatMul(g.SwapAxes(x, axis, -1), weights), axis, -1);
  }
  Value sum = nullptr;
  for (size_t t = 0; t < taps.indices.size(); ++t) {
    Ints bits;
    for (const double w : taps.weights[t]) bits.push_back(BitsFromDouble(type, w));
    const Value weights = Along(g, g.Constant(type, {out}, std::move(bits)), g.Rank(x), axis);
    const Value term = g.Mul(Pick(g, x, axis, taps.indices[t]), weights);
    sum = sum ? g.Add(sum, term) : term;
  }
  return sum;
}

void Resize(NodeContext& c) {
  const Value x = c.In(0);
  if (!x) return;
  const bool upsamples = c.node.op == "Upsample";
  const size_t rank = c.g.Rank(x);
  Resampling r;
  r.mode = c.String("mode", "nearest");
  if (r.mode == "bilinear") r.mode = "linear";
  r.coordinates = c.String("coordinate_transformation_mode", "half_pixel");
  static constexpr std::string_view kCoordinates[] = {
      "half_pixel", "half_pixel_symmetric", "pytorch_half_pixel", "align_corners",
      "asymmetric", "tf_half_pixel_for_nn", "tf_crop_and_resize"};
  if (std::find(std::begin(kCoordinates), std::end(kCoordinates), r.coordinates) ==
      std::end(kCoordinates)) {
    c.Fail("coordinate_transformation_mode '" + std::string(r.coordinates) + "'");
    return;
  }
  r.rounding = c.String("nearest_mode", "round_prefer_floor");
  if (upsamples || c.opset < 11) {
    r.coordinates = "asymmetric";
    r.rounding = "floor";
  }
  r.cubic = c.Float("cubic_coeff_a", -0.75);
  r.excludes_outside = c.Int("exclude_outside", 0) != 0;
  r.antialiases = c.Int("antialias", 0) != 0 && r.mode != "nearest";

  Ints axes(rank);
  std::iota(axes.begin(), axes.end(), 0);
  if (const auto list = c.List("axes")) {
    axes = *list;
    for (int64_t& a : axes) {
      const auto at = c.g.Axis(a, rank);
      if (!at) return;
      a = *at;
    }
  }
  // The positions of the inputs: x, scales before opset 11; then x, roi, scales, sizes.
  const size_t roi_at = 1, scales_at = upsamples || c.opset < 11 ? 1 : 2, sizes_at = 3;
  std::optional<std::vector<double>> scales, roi;
  std::optional<Ints> sizes;
  std::optional<std::vector<Dim>> asked;  // sizes, of which some may be symbolic
  if (const auto list = c.Floats("scales")) scales.emplace(list->begin(), list->end());
  const auto is_empty = [&](size_t i) {
    return !c.Has(i) || (IsStatic(c.g.ShapeOf(c.In(i))) && NumElements(c.g.ShapeOf(c.In(i))) == 0);
  };
  if (!scales && !is_empty(scales_at)) scales = c.KnownNumbers(scales_at);
  if (!scales && scales_at == 2 && !is_empty(sizes_at)) asked = c.KnownDims(sizes_at);
  if (scales_at == 2 && !is_empty(roi_at) && r.coordinates == "tf_crop_and_resize") {
    roi = c.KnownNumbers(roi_at);
  }
  if (!c.g.ok()) return;
  const std::string_view policy = c.String("keep_aspect_ratio_policy", "stretch");
  if (asked && asked->size() == axes.size()) {
    // An axis that keeps its extent may be symbolic.
    const bool may_keep = policy == "stretch" && !roi;
    Ints resized;
    sizes.emplace();
    for (size_t i = 0; i < axes.size(); ++i) {
      const bool is_symbolic = (*asked)[i].is_symbolic();
      if (may_keep && is_symbolic && (*asked)[i] == c.g.Extent(x, axes[i])) continue;
      if (is_symbolic) {
        c.Fail(absl::StrCat("a symbolic size of axis ", axes[i], ", which is not its extent"));
        return;
      }
      resized.push_back(axes[i]);
      sizes->push_back((*asked)[i].value());
    }
    axes = resized;
  } else if (asked) {
    sizes.emplace();
    sizes->resize(asked->size());
  }
  const size_t n = axes.size();
  if ((scales && scales->size() != n) || (sizes && sizes->size() != n) || (!scales && !sizes) ||
      (roi && roi->size() != 2 * n)) {
    c.Fail(absl::StrCat("scales, sizes or roi that are not those of ", n, " axes"));
    return;
  }
  if (sizes) {
    scales.emplace();
    for (size_t i = 0; i < n; ++i) {
      const Dim& extent = c.g.Extent(x, axes[i]);
      if (extent.is_symbolic()) {
        c.Fail("sizes for a symbolic extent");
        return;
      }
      scales->push_back(static_cast<double>((*sizes)[i]) / static_cast<double>(extent.value()));
    }
    if (policy != "stretch" && n > 0) {
      const double scale = policy == "not_larger"
                               ? *std::min_element(scales->begin(), scales->end())
                               : *std::max_element(scales->begin(), scales->end());
      for (size_t i = 0; i < n; ++i) {
        (*scales)[i] = scale;
        (*sizes)[i] = static_cast<int64_t>(
            std::floor(scale * static_cast<double>(c.g.Extent(x, axes[i]).value()) + 0.5));
      }
    }
  }
  const Scalar type = x->dtype.scalar();
  const bool computes = r.mode != "nearest";
  const Scalar wide = IsFloat(type) && BitWidth(type) >= 32 ? type : Scalar::kF32;
  Value y = computes ? c.g.Cast(x, wide) : x;
  Value outside = nullptr;
  for (size_t i = 0; i < n; ++i) {
    const double scale = (*scales)[i];
    const Dim extent = c.g.Extent(y, axes[i]);
    if (scale == 1 && !roi) continue;
    if (extent.is_symbolic()) {
      const bool whole = scale == std::floor(scale) && scale >= 1 && r.mode == "nearest" &&
                         (r.coordinates == "asymmetric" || r.coordinates == "half_pixel");
      if (!whole) {
        c.Fail("a symbolic extent that does not grow by a whole factor to the nearest elements");
        return;
      }
      if (scale > static_cast<double>(GraphBuilder::kMaxElements)) {
        c.Fail(absl::StrCat("a scale of ", scale));
        return;
      }
      y = c.g.RepeatInterleave(y, axes[i], static_cast<int64_t>(scale));
      continue;
    }
    const int64_t in = extent.value();
    const double exact =
        sizes ? static_cast<double>((*sizes)[i]) : std::floor(scale * static_cast<double>(in));
    // Bounds the tables of the resampling. An element of the result has up to 4 * stretch taps.
    const double stretch = r.antialiases ? std::max(1.0, 1 / scale) : 1;
    if (in < 1 || !(exact >= 1) || !(exact * stretch * 4 <= double{kMaxTableElements})) {
      c.Fail(absl::StrCat("an axis of ", in, " elements resized to ", exact));
      return;
    }
    const auto out = static_cast<int64_t>(exact);
    const AxisTaps taps = MakeTaps(r, in, out, scale, roi ? (*roi)[i] : 0, roi ? (*roi)[n + i] : 1);
    y = ResampleAxis(c.g, y, axes[i], taps);
    if (!y) return;
    if (std::find(taps.outside.begin(), taps.outside.end(), 1) != taps.outside.end()) {
      const Value here =
          Along(c.g, c.g.Constant(Scalar::kBool, {out}, taps.outside), rank, axes[i]);
      outside = outside ? c.g.Or(outside, here) : here;
    }
  }
  if (outside) y = c.g.Where(outside, c.g.Like(y, c.Float("extrapolation_value", 0)), y);
  if (computes && !IsFloat(type)) y = c.g.Round(y);
  c.Return(c.g.Cast(y, type), 0, c.TypeOf(0));
}

constexpr Operator kResizeOperators[] = {
    {"", "Resize", 10, Resize},
    {"", "Upsample", 1, Resize},
};

}  // namespace

std::span<const Operator> ResizeOperators() { return kResizeOperators; }

}  // namespace tg::onnx
