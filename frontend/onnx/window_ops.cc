// Convolutions and pools.
#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <span>

#include "absl/strings/str_cat.h"
#include "frontend/onnx/operators.h"
#include "frontend/onnx/windows.h"
#include "ir/value.h"

namespace tg::onnx {
namespace {

// Whether the extents and the numbers of a window are so small that products of two of them do not
// overflow. Records an error if not.
bool AreModest(NodeContext& c, Value x, std::initializer_list<std::span<const int64_t>> lists) {
  constexpr int64_t kMax = int64_t{1} << 29;
  const auto check = [&](int64_t n) {
    if (n < -kMax || n > kMax) c.Fail(absl::StrCat("a window or its input of ", n, " elements"));
  };
  for (const std::span<const int64_t> list : lists) std::for_each(list.begin(), list.end(), check);
  const Shape& shape = c.g.ShapeOf(x);
  for (size_t i = 2; i < shape.size(); ++i) {
    if (!shape[i].is_symbolic()) check(shape[i].value());
  }
  return c.g.ok();
}

}  // namespace

std::optional<Ints> KernelOf(NodeContext& c, Value weight) {
  if (!weight || c.g.Rank(weight) < 3) {
    c.Fail("a weight of fewer than three axes");
    return std::nullopt;
  }
  Ints kernel;
  const Shape& shape = c.g.ShapeOf(weight);
  for (size_t i = 2; i < shape.size(); ++i) {
    if (shape[i].is_symbolic()) {
      c.Fail("a kernel of symbolic extent");
      return std::nullopt;
    }
    kernel.push_back(shape[i].value());
  }
  return kernel;
}

std::optional<GraphBuilder::Window> WindowOf(NodeContext& c, Value x, const Ints& kernel) {
  const size_t n = kernel.size();
  GraphBuilder::Window w;
  w.kernel = kernel;
  w.strides = c.List("strides").value_or(Ints(n, 1));
  w.dilations = c.List("dilations").value_or(Ints(n, 1));
  const Ints pads = c.List("pads").value_or(Ints(2 * n, 0));
  if (w.strides.size() != n || w.dilations.size() != n || pads.size() != 2 * n ||
      c.g.Rank(x) != n + 2) {
    c.Fail(absl::StrCat("a window of ", n, " axes, with its strides, dilations and pads, over ",
                        c.g.Describe(x)));
    return std::nullopt;
  }
  if (!AreModest(c, x, {kernel, w.strides, w.dilations, pads})) return std::nullopt;
  for (size_t i = 0; i < n; ++i) {
    if (kernel[i] > 0 && w.strides[i] > 0 && w.dilations[i] > 0) continue;
    c.Fail("a window, stride or dilation below 1");
    return std::nullopt;
  }
  w.pads_begin.assign(pads.begin(), pads.begin() + static_cast<ptrdiff_t>(n));
  w.pads_end.assign(pads.begin() + static_cast<ptrdiff_t>(n), pads.end());
  const std::string_view mode = c.String("auto_pad", "NOTSET");
  if (mode == "VALID") {
    w.pads_begin.assign(n, 0);
    w.pads_end.assign(n, 0);
  }
  if (mode != "SAME_UPPER" && mode != "SAME_LOWER") return w;
  for (size_t i = 0; i < n; ++i) {
    const Dim& extent = c.g.Extent(x, static_cast<int64_t>(i) + 2);
    const int64_t reach = w.dilations[i] * (kernel[i] - 1) + 1, stride = w.strides[i];
    if (extent.is_symbolic() && reach > 1 && reach < stride) {
      c.Fail("auto_pad of a window shorter than its stride, over a symbolic extent");
      return std::nullopt;
    }
    if (extent.is_symbolic() && reach == 1) {
      w.pads_begin[i] = w.pads_end[i] = 0;
      continue;
    }
    // As many windows as strides are begun in the axis; `padded` is where the last one ends.
    const Dim windows = c.g.FloorDivDim(c.g.AddDim(extent, Dim(stride - 1)), stride);
    const Dim padded = c.g.AddDim(c.g.MulDim(windows, Dim(stride)), Dim(reach - stride));
    Dim all = c.g.SubDim(padded, extent);
    if (!c.g.ok()) return std::nullopt;
    if (!all.is_symbolic()) all = Dim(std::max<int64_t>(all.value(), 0));
    const int64_t up = mode == "SAME_UPPER" ? 0 : 1;
    const auto half = [&](const Dim& d) { return c.g.FloorDivDim(c.g.AddDim(d, Dim(up)), 2); };
    // Pads of different extents differ by less than a stride, so their halves may be one number.
    const Dim least = half(Dim(reach - stride)), greatest = half(Dim(reach - 1));
    Dim& begin = w.pads_begin[i];
    begin = all.is_symbolic() && least == greatest ? least : half(all);
    w.pads_end[i] =
        all.is_symbolic() ? c.g.SubDim(padded, c.g.AddDim(begin, extent)) : c.g.SubDim(all, begin);
  }
  return w;
}

namespace {

void Conv(NodeContext& c) {
  const Value x = c.In(0), weight = c.In(1);
  const auto kernel = x ? KernelOf(c, weight) : std::nullopt;
  if (!kernel) return;
  const auto w = WindowOf(c, x, *kernel);
  if (w) c.Return(c.g.Conv(x, weight, c.Optional(2), *w, c.Int("group", 1)));
}

void ConvTranspose(NodeContext& c) {
  const Value x = c.In(0), weight = c.In(1);
  const auto kernel = x ? KernelOf(c, weight) : std::nullopt;
  if (!kernel) return;
  const size_t n = kernel->size();
  GraphBuilder::Window w;
  w.kernel = *kernel;
  w.strides = c.List("strides").value_or(Ints(n, 1));
  w.dilations = c.List("dilations").value_or(Ints(n, 1));
  Ints pads = c.List("pads").value_or(Ints(2 * n, 0));
  Ints extra = c.List("output_padding").value_or(Ints(n, 0));
  const auto asked = c.List("output_shape");
  if (w.strides.size() != n || w.dilations.size() != n || pads.size() != 2 * n ||
      extra.size() != n || c.g.Rank(x) != n + 2 || (asked && asked->size() < n)) {
    c.Fail("strides, dilations, pads, output_padding or output_shape of another number of axes");
    return;
  }
  if (!AreModest(c, x, {w.kernel, w.strides, w.dilations, pads, extra, asked.value_or(Ints())}))
    return;
  const std::string_view mode = c.String("auto_pad", "NOTSET");
  const bool same = mode == "SAME_UPPER" || mode == "SAME_LOWER";
  for (size_t i = 0; i < n; ++i) {
    const Dim& extent = c.g.Extent(x, static_cast<int64_t>(i) + 2);
    if (mode == "VALID") pads[i] = pads[n + i] = 0;
    if (!asked && !same) continue;
    if (extent.is_symbolic()) {
      c.Fail("output_shape or auto_pad over a symbolic extent");
      return;
    }
    const int64_t out = asked ? (*asked)[asked->size() - n + i] : extent.value() * w.strides[i];
    const int64_t all = w.strides[i] * (extent.value() - 1) + extra[i] +
                        (w.kernel[i] - 1) * w.dilations[i] + 1 - out;
    // The longer half is at the end, unless for SAME_UPPER of an output shape (as the standard's).
    const int64_t half = std::max<int64_t>(all, 0) / 2, rest = all - half;
    if (all < 0) {
      pads[i] = 0;
      pads[n + i] = all;
    } else {
      pads[i] = mode == "SAME_UPPER" ? half : rest;
      pads[n + i] = mode == "SAME_UPPER" ? rest : half;
    }
  }
  w.pads_begin.assign(pads.begin(), pads.begin() + static_cast<ptrdiff_t>(n));
  w.pads_end.assign(pads.begin() + static_cast<ptrdiff_t>(n), pads.end());
  c.Return(c.g.ConvTranspose(x, weight, c.Optional(2), w, extra, c.Int("group", 1)));
}

// With ceil_mode, the last window may begin inside the padded input and end after it. The padding
// at the end is then increased; the additional elements do not count.
void AddCeilPads(NodeContext& c, Value x, GraphBuilder::Window& w) {
  if (!c.Int("ceil_mode", 0)) return;
  for (size_t i = 0; i < w.kernel.size(); ++i) {
    const Dim& extent = c.g.Extent(x, static_cast<int64_t>(i) + 2);
    const int64_t reach = w.dilations[i] * (w.kernel[i] - 1) + 1, stride = w.strides[i];
    Dim& end = w.pads_end[i];
    if (extent.is_symbolic()) {
      // The last window begins before the input's end wherever that is. What is more than it needs
      // is less than a stride.
      if (end.is_symbolic() || end.value() + stride > reach) {
        c.Fail("ceil_mode of a window that may begin behind a symbolic extent");
        return;
      }
      end = Dim(end.value() + stride - 1);
      continue;
    }
    const int64_t begin = w.pads_begin[i].value();
    const int64_t free = extent.value() + begin + end.value() - reach;
    const int64_t more = (stride - free % stride) % stride;
    // A window that would begin in the padding behind the input is left out.
    if (free + more < extent.value() + begin) end = Dim(end.value() + more);
  }
}

std::optional<GraphBuilder::Window> PoolWindow(NodeContext& c, Value x) {
  const auto kernel = c.List("kernel_shape");
  if (!kernel) {
    c.Fail("there is no kernel_shape");
    return std::nullopt;
  }
  return WindowOf(c, x, *kernel);
}

Ints LastAxes(size_t n) {
  Ints axes;
  for (size_t i = 1; i <= n; ++i) axes.push_back(-static_cast<int64_t>(i));
  return axes;
}

void MaxPool(NodeContext& c) {
  const Value x = c.In(0);
  if (!x) return;
  auto w = PoolWindow(c, x);
  if (!w) return;
  AddCeilPads(c, x, *w);
  if (!c.g.ok()) return;
  const size_t n = w->kernel.size();
  const Value least = c.g.ir().ConstBits(x->dtype, MinValue(x->dtype.scalar()));
  const Value windows = c.g.Windows(x, *w, least);
  const Value most = c.g.Reduce(Op::kMax, windows, LastAxes(n));
  c.Return(most);
  if (!c.Wants(1) || !most) return;
  // The number, in the whole tensor, of the first greatest element of each window.
  const Shape shape = c.g.ShapeOf(x);
  if (!IsStatic(shape)) {
    c.Fail("indices over symbolic extents");
    return;
  }
  const bool column_major = c.Int("storage_order", 0) != 0;
  Ints strides(shape.size(), 1);
  for (size_t i = shape.size() - 1; i-- > 0;) strides[i] = strides[i + 1] * shape[i + 1].value();
  if (column_major) {
    for (size_t i = 2, next = 1; i < shape.size(); ++i) {
      strides[i] = static_cast<int64_t>(next);
      next *= static_cast<size_t>(shape[i].value());
    }
  }
  Value number = nullptr;
  for (size_t i = 0; i < shape.size(); ++i) {
    Shape along(shape.size(), Dim(1));
    along[i] = shape[i];
    Value part = c.g.Reshape(c.g.Arange(Scalar::kI64, shape[i]), along);
    part = c.g.Mul(part, c.g.ConstInt(Scalar::kI64, strides[i]));
    number = number ? c.g.Add(number, part) : part;
  }
  const Value beyond = c.g.ConstInt(Scalar::kI64, int64_t{1} << 62);
  const Value numbers = c.g.Windows(c.g.BroadcastTo(number, shape), *w, beyond);
  Value wide = most;
  for (size_t i = 0; i < n; ++i) wide = c.g.Unsqueeze(wide, -1);
  c.Return(c.g.Reduce(Op::kMin, c.g.Where(c.g.Eq(windows, wide), numbers, beyond), LastAxes(n)), 1);
}

void AveragePool(NodeContext& c) {
  const Value x = c.In(0);
  if (!x) return;
  auto w = PoolWindow(c, x);
  if (!w) return;
  const GraphBuilder::Window told = *w;
  AddCeilPads(c, x, *w);
  if (!c.g.ok()) return;
  const Ints axes = LastAxes(w->kernel.size());
  const Scalar type = x->dtype.scalar();
  const Value f = c.g.Cast(x, BitWidth(type) < 32 ? Scalar::kF32 : type);
  const Value sum = c.g.Sum(c.g.Windows(f, *w, nullptr), axes);
  // Marks the elements that count for a mean: those of the input, or those of the input and the
  // given pads, but never what ceil_mode adds.
  Value ones = c.g.Full(c.g.ShapeOf(x), c.g.Like(f, 1));
  GraphBuilder::Window counted = *w;
  if (c.Int("count_include_pad", 0)) {
    std::vector<std::pair<Dim, Dim>> pads(c.g.Rank(x), {0, 0});
    for (size_t i = 0; i < told.kernel.size(); ++i) {
      pads[2 + i] = {told.pads_begin[i], told.pads_end[i]};
      counted.pads_begin[i] = 0;
      counted.pads_end[i] = c.g.SubDim(counted.pads_end[i], told.pads_end[i]);
    }
    ones = c.g.Pad(ones, pads, c.g.Like(f, 1));
  }
  const Value count = c.g.Sum(c.g.Windows(ones, counted, nullptr), axes);
  c.Return(c.g.Cast(c.g.Div(sum, count), type));
}

void LpPool(NodeContext& c) {
  const Value x = c.In(0);
  if (!x) return;
  auto w = PoolWindow(c, x);
  if (!w) return;
  AddCeilPads(c, x, *w);
  const double p = static_cast<double>(c.Int("p", 2));
  const Value powers = c.g.Pow(c.g.Abs(c.g.Windows(x, *w, nullptr)), c.g.Like(x, p));
  c.Return(c.g.Pow(c.g.Sum(powers, LastAxes(w->kernel.size())), c.g.Like(x, 1 / p)));
}

Ints Spatial(NodeContext& c, Value x) {
  Ints axes;
  for (size_t i = 2; i < c.g.Rank(x); ++i) axes.push_back(static_cast<int64_t>(i));
  return axes;
}

void GlobalAveragePool(NodeContext& c) {
  const Value x = c.In(0);
  if (x) c.Return(c.g.Mean(x, Spatial(c, x), true));
}
void GlobalMaxPool(NodeContext& c) {
  const Value x = c.In(0);
  if (x) c.Return(c.g.Reduce(Op::kMax, x, Spatial(c, x), true));
}
void GlobalLpPool(NodeContext& c) {
  const Value x = c.In(0);
  if (!x) return;
  const double p = static_cast<double>(c.Int("p", 2));
  const Value sum = c.g.Sum(c.g.Pow(c.g.Abs(x), c.g.Like(x, p)), Spatial(c, x), true);
  c.Return(c.g.Pow(sum, c.g.Like(x, 1 / p)));
}

void MaxUnpool(NodeContext& c) {
  const Value x = c.In(0), numbers = c.In(1);
  const auto kernel = c.List("kernel_shape");
  if (!x || !numbers || !kernel) return;
  const Shape shape = c.g.ShapeOf(x);
  if (!IsStatic(shape) || shape.size() != kernel->size() + 2) {
    c.Fail("a kernel of other axes than the input, or symbolic extents");
    return;
  }
  const size_t n = kernel->size();
  const Ints strides = c.List("strides").value_or(Ints(n, 1));
  const Ints pads = c.List("pads").value_or(Ints(2 * n, 0));
  // The numbers count in the shape that the pool had; a larger output is that, padded at the end.
  Shape pooled = shape;
  for (size_t i = 0; i < n; ++i) {
    pooled[2 + i] = (shape[2 + i].value() - 1) * strides[i] - pads[i] - pads[n + i] + (*kernel)[i];
  }
  Shape to = pooled;
  if (c.Has(2)) {
    const auto asked = c.KnownInts(2);
    if (!asked) return;
    to.assign(asked->begin(), asked->end());
  }
  const Value flat = c.g.Full({Dim(tg::NumElements(pooled))}, c.g.Like(x, 0));
  const Value placed =
      c.g.ScatterElements(flat, c.g.Flatten(numbers, 0, static_cast<int64_t>(shape.size())),
                          c.g.Flatten(x, 0, static_cast<int64_t>(shape.size())), 0, Op::kNoop);
  std::vector<std::pair<Dim, Dim>> more;
  for (size_t i = 0; i < to.size(); ++i) more.push_back({0, to[i].value() - pooled[i].value()});
  c.Return(c.g.Pad(c.g.Reshape(placed, pooled), more));
}

constexpr Operator kWindowOperators[] = {
    {"", "AveragePool", 1, AveragePool},
    {"", "Conv", 1, Conv},
    {"", "ConvTranspose", 1, ConvTranspose},
    {"", "GlobalAveragePool", 1, GlobalAveragePool},
    {"", "GlobalLpPool", 2, GlobalLpPool},
    {"", "GlobalMaxPool", 1, GlobalMaxPool},
    {"", "LpPool", 2, LpPool},
    {"", "MaxPool", 1, MaxPool},
    {"", "MaxUnpool", 9, MaxUnpool},
};

}  // namespace

std::span<const Operator> WindowOperators() { return kWindowOperators; }

}  // namespace tg::onnx
