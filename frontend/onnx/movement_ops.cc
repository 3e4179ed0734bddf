// Operators that move elements and compute none.
#include <algorithm>
#include <numeric>
#include <optional>

#include "absl/strings/str_cat.h"
#include "frontend/onnx/operators.h"

namespace tg::onnx {
namespace {

using Widths = std::vector<std::pair<Dim, Dim>>;

// A product of extents: a number, and factors that are no products.
struct Factors {
  Dim number = 1;
  Shape symbols;
};

Factors FactorsOf(GraphBuilder& g, const Shape& extents) {
  Factors out;
  Shape stack = extents;
  while (!stack.empty()) {
    const Dim d = stack.back();
    stack.pop_back();
    if (!d.is_symbolic()) {
      out.number = g.MulDim(out.number, d);
    } else if (d.symbol()->op == Op::kMul) {
      stack.push_back(d.symbol()->src(0));
      stack.push_back(d.symbol()->src(1));
    } else {
      out.symbols.push_back(d);
    }
  }
  return out;
}

// The extent with which `given`, which has 1 in its place, has as many elements as `from`. Common
// factors cancel, symbolic ones too. nullopt if there is no such extent.
std::optional<Dim> OpenExtent(GraphBuilder& g, const Shape& from, const Shape& given) {
  Factors rest = FactorsOf(g, from);
  const Factors divisor = FactorsOf(g, given);
  if (divisor.number.Is(0)) return rest.number.Is(0) ? std::optional(Dim(0)) : std::nullopt;
  for (const Dim& d : divisor.symbols) {
    const auto same = std::find(rest.symbols.begin(), rest.symbols.end(), d);
    if (same == rest.symbols.end()) return std::nullopt;
    rest.symbols.erase(same);
  }
  const bool divides = rest.number.value() % divisor.number.value() == 0;
  if (!divides && rest.symbols.empty()) return std::nullopt;
  if (divides) rest.number = rest.number.value() / divisor.number.value();
  Dim n = rest.number;
  for (auto it = rest.symbols.rbegin(); it != rest.symbols.rend(); ++it) n = g.MulDim(n, *it);
  return divides ? n : g.FloorDivDim(n, divisor.number.value());
}

void Reshape(NodeContext& c) {
  const Value x = c.In(0);
  const auto asked = c.KnownDims(1);
  if (!x || !asked) return;
  const Shape from = c.g.ShapeOf(x);
  const bool zero_is_zero = c.Int("allowzero", 0) != 0;
  Shape shape;
  size_t open = asked->size();
  for (size_t i = 0; i < asked->size(); ++i) {
    const Dim& d = (*asked)[i];
    if (d.Is(0) && !zero_is_zero) {
      if (i >= from.size()) {
        c.Fail("an extent is copied that the input has not");
        return;
      }
      shape.push_back(from[i]);
    } else {
      if (d.Is(-1)) open = i;
      shape.push_back(d.Is(-1) ? Dim(1) : d);
    }
  }
  if (open < shape.size()) {
    const std::optional<Dim> extent = OpenExtent(c.g, from, shape);
    if (!extent) {
      c.Fail(absl::StrCat("no extent makes ", c.g.Describe(x), " of the shape asked for"));
      return;
    }
    shape[open] = *extent;
  }
  c.Return(c.g.Reshape(x, shape), 0, c.TypeOf(0));
}

void Flatten(NodeContext& c) {
  const Value x = c.In(0);
  if (!x) return;
  const auto rank = static_cast<int64_t>(c.g.Rank(x));
  int64_t axis = c.Int("axis", 1);
  if (axis < 0) axis += rank;
  if (axis < 0 || axis > rank) {
    c.Fail(absl::StrCat("axis ", axis, " of ", c.g.Describe(x)));
    return;
  }
  const Shape& s = c.g.ShapeOf(x);
  c.Return(c.g.Reshape(x, {c.g.NumElements(Shape(s.begin(), s.begin() + axis)),
                           c.g.NumElements(Shape(s.begin() + axis, s.end()))}),
           0, c.TypeOf(0));
}

void Transpose(NodeContext& c) {
  const Value x = c.In(0);
  if (!x) return;
  Ints order(c.g.Rank(x));
  std::iota(order.rbegin(), order.rend(), 0);
  if (const auto perm = c.List("perm")) order = *perm;
  c.Return(c.g.Permute(x, order), 0, c.TypeOf(0));
}

// The least and the greatest value of an extent or a bound.
std::optional<DimExpr::Range> RangeOf(GraphBuilder& g, const Dim& d) {
  const std::optional<DeclDim> dim = DeclDim::From(g.ir().context(), d);
  return dim ? BoundsOf(g.module(), *dim) : std::nullopt;
}

// Sees to it that a symbolic extent is above 1, so that the axis stays in every run: the variable
// that it is has no smaller value from now on. False for other extents that may be 1.
bool KeepAboveOne(GraphBuilder& g, const Dim& d) {
  const auto range = RangeOf(g, d);
  if (range && range->first > 1) return true;
  if (d.symbol()->op != Op::kVar || !range || range->second < 2) return false;
  const std::string_view name = g.ir().context().String(static_cast<StringId>(d.symbol()->word()));
  for (VarDecl& var : g.module().vars) {
    if (var.name == name) var.min = 2;
  }
  return true;
}

void Squeeze(NodeContext& c) {
  Value x = c.In(0);
  if (!x) return;
  const bool by_input = c.opset >= 13;
  std::optional<Ints> axes = by_input ? std::nullopt : c.List("axes");
  if (by_input && c.Has(1)) {
    axes = c.KnownInts(1);
    if (!axes) return;
  }
  const size_t rank = c.g.Rank(x);
  Ints at;
  if (axes) {
    for (const int64_t a : *axes) {
      const auto i = c.g.Axis(a, rank);
      if (!i) return;
      at.push_back(*i);
    }
  } else {
    for (size_t i = 0; i < rank; ++i) {
      const Dim d = c.g.ShapeOf(x)[i];
      if (d.Is(1)) at.push_back(static_cast<int64_t>(i));
      if (!d.is_symbolic() || KeepAboveOne(c.g, d)) continue;
      c.Fail(absl::StrCat("whether axis ", i, " of ", c.g.Describe(x),
                          " goes depends on a size that is open"));
      return;
    }
  }
  std::sort(at.rbegin(), at.rend());
  for (const int64_t a : at) x = c.g.Squeeze(x, a);
  c.Return(x, 0, c.TypeOf(0));
}

void Unsqueeze(NodeContext& c) {
  Value x = c.In(0);
  const auto axes = c.opset >= 13 ? c.KnownInts(1) : c.List("axes");
  if (!x || !axes) return;
  const size_t rank = c.g.Rank(x) + axes->size();
  Ints at;
  for (const int64_t a : *axes) {
    const auto i = c.g.Axis(a, rank);
    if (!i) return;
    at.push_back(*i);
  }
  std::sort(at.begin(), at.end());
  for (const int64_t a : at) x = c.g.Unsqueeze(x, a);
  c.Return(x, 0, c.TypeOf(0));
}

void Expand(NodeContext& c) {
  const Value x = c.In(0);
  const auto asked = c.KnownDims(1);
  if (!x || !asked) return;
  // ONNX's Expand broadcasts both ways: an extent of 1 in the requested shape keeps the input's
  // extent.
  Shape shape = *asked;
  const Shape from = c.g.ShapeOf(x);
  if (from.size() > shape.size()) shape.insert(shape.begin(), from.size() - shape.size(), Dim(1));
  for (size_t i = 0; i < from.size(); ++i) {
    Dim& to = shape[shape.size() - from.size() + i];
    if (to.Is(1)) to = from[i];
  }
  c.Return(c.g.BroadcastTo(x, shape), 0, c.TypeOf(0));
}

void Concat(NodeContext& c) {
  c.Return(c.g.Concat(c.Ins(), c.Int("axis", c.opset < 4 ? 1 : 0)), 0, c.TypeOf(0));
}

void Split(NodeContext& c) {
  const Value x = c.In(0);
  if (!x) return;
  const auto axis = c.g.Axis(c.Int("axis", 0), c.g.Rank(x));
  if (!axis) return;
  std::optional<Ints> sizes = c.opset < 13 ? c.List("split") : std::nullopt;
  if (c.opset >= 13 && c.Has(1)) {
    sizes = c.KnownInts(1);
    if (!sizes) return;
  }
  const Dim& extent = c.g.Extent(x, *axis);
  if (!sizes) {
    if (extent.is_symbolic()) {
      c.Fail("a split of a symbolic extent into equal parts");
      return;
    }
    const auto n = static_cast<int64_t>(c.node.outputs.size());
    const int64_t part = (extent.value() + n - 1) / n;
    sizes.emplace();
    for (int64_t left = extent.value(); static_cast<int64_t>(sizes->size()) < n; left -= part) {
      sizes->push_back(std::clamp<int64_t>(left, 0, part));
    }
  }
  int64_t sum = 0;
  for (const int64_t s : *sizes) {
    if (s < 0 || __builtin_add_overflow(sum, s, &sum)) {
      c.Fail(absl::StrCat("a part of ", s, " elements"));
      return;
    }
  }
  if (!extent.is_symbolic() && sum != extent.value()) {
    c.Fail(absl::StrCat("parts of ", sum, " elements in all of ", extent.value()));
    return;
  }
  int64_t start = 0;
  for (size_t i = 0; i < sizes->size(); ++i) {
    c.Return(c.g.Slice(x, *axis, start, start + (*sizes)[i]), i, c.TypeOf(0));
    start += (*sizes)[i];
  }
}

// Elements start, start + step, ... of an axis, where start and stop count from the end if negative
// and are clamped to the extent.
Value SliceAxis(NodeContext& c, Value x, int64_t axis, Dim start, Dim stop, int64_t step) {
  if (!x) return nullptr;
  const auto at = c.g.Axis(axis, c.g.Rank(x));
  if (!at) return nullptr;
  if (step == 0) return c.Fail("a step of 0");
  const Dim extent = c.g.Extent(x, *at);
  if (extent.is_symbolic() || start.is_symbolic() || stop.is_symbolic()) {
    // A symbolic start or stop cannot be clamped before the run; it is assumed to be inside the
    // axis. One that is never above 0 counts from the end where it is below 0.
    const auto place = [&](const Dim& d) -> Dim {
      if (d.is_symbolic()) {
        const auto range = RangeOf(c.g, d);
        if (!range || range->first >= 0 || range->second > 0) return d;
        if (range->second < 0) return c.g.AddDim(extent, d);
        Builder& b = c.g.ir();
        const Value zero = b.Index(0), one = b.Index(1);
        const Value is_below =
            b.Alu(Op::kMin, {b.Alu(Op::kMax, {b.Sub(zero, d.symbol()), zero}), one});
        return c.g.AddDim(d, c.g.MulDim(extent, is_below));
      }
      const auto greatest = c.g.Greatest(extent);
      if (greatest && d.value() >= *greatest) return extent;
      return d.value() < 0 ? c.g.AddDim(extent, d) : d;
    };
    if (step > 0) return c.g.Slice(x, *at, place(start), place(stop), step);
    const auto is_before_all = [](const Dim& d) {
      return !d.is_symbolic() && d.value() < -(int64_t{1} << 30);
    };
    x = c.g.Flip(x, {*at});
    const bool from_end = start.Is(-1) || start == extent;
    if (from_end && is_before_all(stop)) {
      return step == -1 ? x : c.g.Slice(x, *at, 0, extent, -step);
    }
    // Element i is element extent - 1 - i of the flipped axis.
    const Dim first = place(start);
    const Dim begin = first == extent ? Dim(0) : c.g.SubDim(c.g.SubDim(extent, 1), first);
    const Dim end = is_before_all(stop) ? extent : c.g.SubDim(c.g.SubDim(extent, 1), place(stop));
    return c.g.Slice(x, *at, begin, end, -step);
  }
  const int64_t n = extent.value();
  const auto from_end = [n](int64_t v) { return v < 0 ? v + n : v; };
  int64_t a = start.value() < -n ? -1 : from_end(start.value());
  int64_t b = stop.value() < -n ? -1 : from_end(stop.value());
  if (step > 0) {
    a = std::clamp<int64_t>(a, 0, n);
    b = std::clamp<int64_t>(b, a, n);
    return c.g.Slice(x, *at, a, b, step);
  }
  a = std::clamp<int64_t>(a, -1, n - 1);
  b = std::clamp<int64_t>(b, -1, a);
  // Elements a, a-1, ..., b+1, from the other end.
  return c.g.Slice(c.g.Flip(x, {*at}), *at, n - 1 - a, n - 1 - b, -step);
}

void Slice(NodeContext& c) {
  Value x = c.In(0);
  if (!x) return;
  std::optional<std::vector<Dim>> starts, stops;
  std::optional<Ints> axes, steps;
  if (c.opset < 10) {
    const auto dims = [](const std::optional<Ints>& list) {
      return list ? std::optional(std::vector<Dim>(list->begin(), list->end())) : std::nullopt;
    };
    starts = dims(c.List("starts"));
    stops = dims(c.List("ends"));
    axes = c.List("axes");
  } else {
    starts = c.KnownDims(1);
    stops = c.KnownDims(2);
    if (c.Has(3)) axes = c.KnownInts(3);
    if (c.Has(4)) steps = c.KnownInts(4);
    if (!c.g.ok()) return;
  }
  if (!starts || !stops || starts->size() != stops->size() ||
      (axes && axes->size() != starts->size()) || (steps && steps->size() != starts->size())) {
    c.Fail("starts, ends, axes and steps of different lengths");
    return;
  }
  for (size_t i = 0; i < starts->size(); ++i) {
    x = SliceAxis(c, x, axes ? (*axes)[i] : static_cast<int64_t>(i), (*starts)[i], (*stops)[i],
                  steps ? (*steps)[i] : 1);
  }
  c.Return(x, 0, c.TypeOf(0));
}

void Pad(NodeContext& c) {
  const Value x = c.In(0);
  if (!x) return;
  std::optional<std::vector<Dim>> pads;
  Value fill = nullptr;
  std::optional<Ints> axes;
  if (c.opset < 11) {
    if (const auto list = c.List("pads")) pads = std::vector<Dim>(list->begin(), list->end());
    fill = c.g.Like(x, c.Float("value", 0));
  } else {
    pads = c.KnownDims(1);
    if (c.Has(2)) fill = c.g.Reshape(c.In(2), {});
    if (c.Has(3)) axes = c.KnownInts(3);
    if (!c.g.ok()) return;
  }
  if (!pads) {
    c.Fail("there are no pads");
    return;
  }
  const size_t rank = c.g.Rank(x);
  const size_t n = axes ? axes->size() : rank;
  if (pads->size() != 2 * n) {
    c.Fail(absl::StrCat(pads->size(), " pads for ", n, " axes"));
    return;
  }
  Widths widths(rank, {0, 0});
  for (size_t i = 0; i < n; ++i) {
    const auto axis = c.g.Axis(axes ? (*axes)[i] : static_cast<int64_t>(i), rank);
    if (!axis) return;
    widths[static_cast<size_t>(*axis)] = {(*pads)[i], (*pads)[n + i]};
  }
  const std::string_view mode = c.String("mode", "constant");
  using frontend::PadMode;
  c.Return(c.g.Pad(x, widths, fill,
                   mode == "reflect" ? PadMode::kReflect
                   : mode == "edge"  ? PadMode::kEdge
                   : mode == "wrap"  ? PadMode::kWrap
                                     : PadMode::kConstant),
           0, c.TypeOf(0));
}

void Tile(NodeContext& c) {
  const auto repeats = c.KnownInts(1);
  if (repeats) c.Return(c.g.Tile(c.In(0), *repeats), 0, c.TypeOf(0));
}

// Whether x has four axes and blocks have a size, whose square is a number; an error otherwise.
bool IsImageOfBlocks(NodeContext& c, Value x, int64_t block) {
  constexpr int64_t kMaxBlock = int64_t{1} << 24;
  if (x && c.g.Rank(x) == 4 && block >= 1 && block <= kMaxBlock) return true;
  c.Fail(
      absl::StrCat("an input that has not four axes, or a blocksize outside of 1 to ", kMaxBlock));
  return false;
}

void DepthToSpace(NodeContext& c) {
  Value x = c.In(0);
  const int64_t b = c.Int("blocksize", 1);
  if (!IsImageOfBlocks(c, x, b)) return;
  const Shape s = c.g.ShapeOf(x);
  const Dim channels = c.g.FloorDivDim(s[1], b * b);
  if (c.String("mode", "DCR") == "CRD") {
    x = c.g.Permute(c.g.Reshape(x, {s[0], channels, Dim(b), Dim(b), s[2], s[3]}),
                    {0, 1, 4, 2, 5, 3});
  } else {
    x = c.g.Permute(c.g.Reshape(x, {s[0], Dim(b), Dim(b), channels, s[2], s[3]}),
                    {0, 3, 4, 1, 5, 2});
  }
  c.Return(c.g.Reshape(x, {s[0], channels, c.g.MulDim(s[2], b), c.g.MulDim(s[3], b)}), 0,
           c.TypeOf(0));
}

void SpaceToDepth(NodeContext& c) {
  Value x = c.In(0);
  const int64_t b = c.Int("blocksize", 1);
  if (!IsImageOfBlocks(c, x, b)) return;
  const Shape s = c.g.ShapeOf(x);
  const Dim h = c.g.FloorDivDim(s[2], b), w = c.g.FloorDivDim(s[3], b);
  x = c.g.Reshape(x, {s[0], s[1], h, Dim(b), w, Dim(b)});
  x = c.g.Permute(
      x, c.String("mode", "DCR") == "CRD" ? Ints{0, 1, 3, 5, 2, 4} : Ints{0, 3, 5, 1, 2, 4});
  c.Return(c.g.Reshape(x, {s[0], c.g.MulDim(s[1], b * b), h, w}), 0, c.TypeOf(0));
}

void Trilu(NodeContext& c) {
  const Value x = c.In(0);
  if (!x || c.g.Rank(x) < 2) {
    c.Fail("an input of fewer than two axes");
    return;
  }
  int64_t k = 0;
  if (c.Has(1)) {
    const auto known = c.KnownInt(1);
    if (!known) return;
    k = *known;
  }
  const Value i = c.g.Unsqueeze(
      c.g.Arange(Scalar::kI64, c.g.Extent(x, static_cast<int64_t>(c.g.Rank(x)) - 2)), 1);
  const Value j = c.g.Arange(Scalar::kI64, c.g.Extent(x, static_cast<int64_t>(c.g.Rank(x)) - 1));
  const Value d = c.g.Add(i, c.g.Like(i, static_cast<double>(k)));
  const Value keep = c.Int("upper", 1) ? c.g.Le(d, j) : c.g.Le(j, d);
  c.Return(c.g.Where(keep, x, c.g.Like(x, 0)), 0, c.TypeOf(0));
}

void ReverseSequence(NodeContext& c) {
  const Value x = c.In(0), lengths = c.In(1);
  if (!x || !lengths) return;
  const auto time_axis = c.g.Axis(c.Int("time_axis", 0), c.g.Rank(x)),
             batch_axis = c.g.Axis(c.Int("batch_axis", 1), c.g.Rank(x));
  if (!time_axis || !batch_axis) return;
  const int64_t time = *time_axis, batch = *batch_axis;
  const Dim n = c.g.Extent(x, time);
  Shape along(c.g.Rank(x), Dim(1)), by(c.g.Rank(x), Dim(1));
  along[static_cast<size_t>(time)] = n;
  by[static_cast<size_t>(batch)] = c.g.Extent(x, batch);
  const Value t = c.g.Reshape(c.g.Arange(Scalar::kI64, n), along);
  const Value l = c.g.Reshape(c.g.Cast(lengths, Scalar::kI64), by);
  const Value back = c.g.Sub(c.g.Sub(l, t), c.g.Like(t, 1));
  const Value from = c.g.Where(c.g.Lt(t, l), back, t);
  c.Return(c.g.GatherElements(x, c.g.BroadcastTo(from, c.g.ShapeOf(x)), time), 0, c.TypeOf(0));
}

void CenterCropPad(NodeContext& c) {
  Value x = c.In(0);
  const auto shape = c.KnownInts(1);
  if (!x || !shape) return;
  Ints axes(c.g.Rank(x));
  std::iota(axes.begin(), axes.end(), 0);
  if (const auto list = c.List("axes")) axes = *list;
  Widths widths(c.g.Rank(x), {0, 0});
  for (size_t i = 0; i < axes.size() && i < shape->size(); ++i) {
    const auto axis = c.g.Axis(axes[i], c.g.Rank(x));
    if (!axis) return;
    const Dim& extent = c.g.Extent(x, *axis);
    if (extent.is_symbolic()) {
      c.Fail("a symbolic extent");
      return;
    }
    const int64_t more = (*shape)[i] - extent.value();
    // If the number of elements to add or cut is odd, the odd one is at the end.
    const int64_t before = more >= 0 ? more / 2 : -(-more / 2);
    widths[static_cast<size_t>(*axis)] = {before, more - before};
  }
  c.Return(c.g.Pad(x, widths), 0, c.TypeOf(0));
}

constexpr Operator kMovementOperators[] = {
    {"", "CenterCropPad", 18, CenterCropPad},
    {"", "Concat", 1, Concat},
    {"", "DepthToSpace", 1, DepthToSpace},
    {"", "Expand", 8, Expand},
    {"", "Flatten", 1, Flatten},
    {"", "Pad", 2, Pad},
    {"", "Reshape", 5, Reshape},
    {"", "ReverseSequence", 10, ReverseSequence},
    {"", "Slice", 1, Slice},
    {"", "SpaceToDepth", 1, SpaceToDepth},
    {"", "Split", 2, Split},
    {"", "Squeeze", 1, Squeeze},
    {"", "Tile", 6, Tile},
    {"", "Transpose", 1, Transpose},
    {"", "Trilu", 14, Trilu},
    {"", "Unsqueeze", 1, Unsqueeze},
};

}  // namespace

std::span<const Operator> MovementOperators() { return kMovementOperators; }

}  // namespace tg::onnx
