// Elements by number: sums over one-hot masks, which the passes turn into loads.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "frontend/common/graph_builder.h"
#include "ir/value.h"

namespace tg::frontend {
namespace {

// Indices from 0: negative ones count from the end.
Value FromStart(GraphBuilder& g, Value indices, const Dim& extent) {
  if (!indices) return nullptr;
  if (!indices->dtype.is_int()) return g.Fail("indices that are " + g.Describe(indices));
  if (IsUnsigned(indices->dtype.scalar())) return indices;
  const Value n = g.DimValue(indices->dtype.scalar(), extent);
  return g.Where(g.Lt(indices, g.Like(indices, 0)), g.Add(indices, n), indices);
}

// `indices` without the repeats along other axes than `axis`, along which they have the extents
// `whole`: they are compared once for all elements there.
Value WithoutRepeats(GraphBuilder& g, Value indices, int64_t axis, const Shape& whole) {
  if (indices->op != Op::kExpand) return indices;
  const Value once = indices->src(0);
  const Shape from = g.ShapeOf(once), to = g.ShapeOf(indices);
  for (size_t i = 0; i < to.size(); ++i) {
    if (from[i] == to[i]) continue;
    if (static_cast<int64_t>(i) == axis || to[i] != whole[i]) return indices;
  }
  return once;
}

}  // namespace

Value GraphBuilder::Gather(Value x, Value indices, int64_t axis) {
  if (!x || !indices) return nullptr;
  const auto at = Axis(axis, Rank(x));
  if (!at) return nullptr;
  const Dim extent = Extent(x, *at);
  const auto known = KnownInts(indices);
  if (known && known->size() == 1 && !extent.is_symbolic()) {
    const int64_t i = (*known)[0] < 0 ? (*known)[0] + extent.value() : (*known)[0];
    if (i < 0 || i >= extent.value()) {
      return Fail(absl::StrCat("index ", (*known)[0], " into ", extent.value(), " elements"));
    }
    Shape shape = ShapeOf(x);
    const Shape& inner = ShapeOf(indices);
    shape.erase(shape.begin() + *at);
    shape.insert(shape.begin() + *at, inner.begin(), inner.end());
    return Reshape(Slice(x, *at, i, i + 1), shape);
  }
  const Value from_start = FromStart(*this, indices, extent);
  if (!from_start) return nullptr;
  // x: [lead, 1..., extent, tail]; indices: [1..., i..., 1, 1...].
  const Shape shape = ShapeOf(x), inner = ShapeOf(indices);
  Shape spread(shape.begin(), shape.begin() + *at);
  spread.insert(spread.end(), inner.size(), Dim(1));
  spread.insert(spread.end(), shape.begin() + *at, shape.end());
  Shape asked(static_cast<size_t>(*at), Dim(1));
  asked.insert(asked.end(), inner.begin(), inner.end());
  asked.insert(asked.end(), shape.size() - static_cast<size_t>(*at), Dim(1));
  Shape counted(spread.size(), Dim(1));
  const size_t summed = static_cast<size_t>(*at) + inner.size();
  counted[summed] = extent;
  const Value here =
      Eq(Reshape(from_start, asked), Reshape(Arange(indices->dtype.scalar(), extent), counted));
  // One term is not zero, so the sum needs no wider type.
  const Value terms = Where(here, Reshape(x, spread), Like(x, 0));
  return terms
             ? Squeeze(Checked(ir_.ReduceAxis(terms, Op::kAdd, Ints{static_cast<int64_t>(summed)})),
                       static_cast<int64_t>(summed))
             : nullptr;
}

Value GraphBuilder::GatherElements(Value x, Value indices, int64_t axis) {
  if (!x || !indices) return nullptr;
  const auto at = Axis(axis, Rank(x));
  if (!at) return nullptr;
  const Shape shape = ShapeOf(x), inner = ShapeOf(indices);
  if (inner.size() != shape.size()) return Fail("indices of another rank");
  std::vector<std::pair<Dim, Dim>> bounds;
  for (size_t i = 0; i < shape.size(); ++i) {
    bounds.push_back({0, static_cast<int64_t>(i) == *at ? shape[i] : inner[i]});
  }
  const Dim extent = Extent(x, *at);
  x = Unsqueeze(SwapAxes(ShrinkTo(x, bounds), *at, -1), -2);
  const Value once = WithoutRepeats(*this, indices, *at, inner);
  const Value asked = Unsqueeze(SwapAxes(FromStart(*this, once, extent), *at, -1), -1);
  const Value here = Eq(asked, Arange(indices->dtype.scalar(), extent));
  const Value terms = Where(here, x, Like(x, 0));
  if (!terms) return nullptr;
  const auto last = static_cast<int64_t>(Rank(terms)) - 1;
  return SwapAxes(Squeeze(Checked(ir_.ReduceAxis(terms, Op::kAdd, Ints{last})), last), *at, -1);
}

namespace {

// The row-major number of the element that the last axis of `indices` selects from axes with these
// extents.
Value FlatIndex(GraphBuilder& g, Value indices, std::span<const Dim> extents) {
  Value flat = nullptr;
  for (size_t i = 0; i < extents.size(); ++i) {
    const auto k = static_cast<int64_t>(i);
    const Value part = FromStart(g, g.Squeeze(g.Slice(indices, -1, k, k + 1), -1), extents[i]);
    if (!part) return nullptr;
    flat = flat ? g.Add(g.Mul(flat, g.DimValue(part->dtype.scalar(), extents[i])), part) : part;
  }
  return flat;
}

}  // namespace

Value GraphBuilder::GatherNd(Value x, Value indices, int64_t batch_dims) {
  if (!x || !indices) return nullptr;
  const Shape shape = ShapeOf(x), inner = ShapeOf(indices);
  const auto b = static_cast<size_t>(batch_dims);
  if (batch_dims < 0 || inner.empty() || inner.back().is_symbolic() || b >= inner.size() ||
      b + static_cast<size_t>(inner.back().value()) > shape.size()) {
    return Fail(absl::StrCat("indices ", Describe(indices), " into ", Describe(x)));
  }
  const auto k = static_cast<size_t>(inner.back().value());
  const Value flat = FlatIndex(*this, indices, std::span(shape).subspan(b, k));
  if (!flat) return nullptr;
  Shape result(inner.begin(), inner.end() - 1);
  result.insert(result.end(), shape.begin() + static_cast<ptrdiff_t>(b + k), shape.end());
  const Dim batch = NumElements(Shape(shape.begin(), shape.begin() + static_cast<ptrdiff_t>(b)));
  const Dim extent = NumElements(Shape(shape.begin() + static_cast<ptrdiff_t>(b),
                                       shape.begin() + static_cast<ptrdiff_t>(b + k)));
  const Dim rest = NumElements(Shape(shape.begin() + static_cast<ptrdiff_t>(b + k), shape.end()));
  const Dim asked = NumElements(Shape(inner.begin() + static_cast<ptrdiff_t>(b), inner.end() - 1));
  const Value here = Eq(Reshape(flat, {batch, asked, Dim(1), Dim(1)}),
                        Reshape(Arange(flat->dtype.scalar(), extent), {extent, Dim(1)}));
  const Value terms = Where(here, Reshape(x, {batch, Dim(1), extent, rest}), Like(x, 0));
  return terms ? Reshape(Checked(ir_.ReduceAxis(terms, Op::kAdd, Ints{2})), result) : nullptr;
}

namespace {

// Combines into x, by `reduce`, the updates for which `match` is true. x: [..., v], match: [..., v,
// n], updates: [..., 1, n].
Value Combine(GraphBuilder& g, Value x, Value match, Value updates, Op reduce) {
  if (!x || !match || !updates) return nullptr;
  if (reduce == Op::kNoop) {
    // The last of the updates. The sum has one term, so that it is a load.
    const Value number = g.Arange(Scalar::kI64, g.ShapeOf(match).back());
    const Value last = g.Reduce(Op::kMax, g.Where(match, number, g.Like(number, -1)), {-1});
    if (!last) return nullptr;
    const Value is_last = g.Eq(g.Unsqueeze(last, -1), number);
    const Value update = g.Reduce(Op::kAdd, g.Where(is_last, updates, g.Like(x, 0)), {-1});
    return g.Where(g.Lt(last, g.Like(last, 0)), x, update);
  }
  const Scalar type = x->dtype.scalar();
  Value none = g.Like(x, 0);
  if (reduce == Op::kMul) none = g.Like(x, 1);
  if (reduce == Op::kMax) none = g.ir().ConstBits(x->dtype, MinValue(type));
  if (reduce == Op::kMin) none = g.ir().ConstBits(x->dtype, MaxValue(type));
  return g.Binary(reduce, x, g.Reduce(reduce, g.Where(match, updates, none), {-1}));
}

}  // namespace

Value GraphBuilder::ScatterElements(Value x, Value indices, Value updates, int64_t axis,
                                    Op reduce) {
  if (!x || !indices || !updates) return nullptr;
  const auto at = Axis(axis, Rank(x));
  if (!at) return nullptr;
  const Shape shape = ShapeOf(x), inner = ShapeOf(indices);
  if (inner.size() != shape.size() || ShapeOf(updates) != inner || x->dtype != updates->dtype) {
    return Fail(absl::StrCat("updates ", Describe(updates), " at ", Describe(indices), " of ",
                             Describe(x)));
  }
  // Where an axis has fewer indices than x has elements, the rest is left alone: index -1.
  const Dim extent = Extent(x, *at);
  std::vector<std::pair<Dim, Dim>> pads;
  for (size_t i = 0; i < shape.size(); ++i) {
    pads.push_back({0, static_cast<int64_t>(i) == *at ? Dim(0) : SubDim(shape[i], inner[i])});
  }
  Value places = FromStart(*this, WithoutRepeats(*this, indices, *at, shape), extent);
  if (!places) return nullptr;
  if (IsUnsigned(places->dtype.scalar())) places = Cast(places, Scalar::kI64);
  places = Pad(places, pads, Like(places, -1));
  updates = Pad(updates, pads);
  places = Unsqueeze(SwapAxes(places, *at, -1), -2);
  updates = Unsqueeze(SwapAxes(updates, *at, -1), -2);
  if (!places) return nullptr;
  const Value match = Eq(places, Unsqueeze(Arange(places->dtype.scalar(), extent), 1));
  return SwapAxes(Combine(*this, SwapAxes(x, *at, -1), match, updates, reduce), *at, -1);
}

Value GraphBuilder::ScatterNd(Value x, Value indices, Value updates, Op reduce) {
  if (!x || !indices || !updates) return nullptr;
  const Shape shape = ShapeOf(x), inner = ShapeOf(indices);
  if (inner.empty() || inner.back().is_symbolic() ||
      static_cast<size_t>(inner.back().value()) > shape.size() || x->dtype != updates->dtype) {
    return Fail(absl::StrCat("updates ", Describe(updates), " at ", Describe(indices), " of ",
                             Describe(x)));
  }
  const auto k = static_cast<ptrdiff_t>(inner.back().value());
  const Value flat = FlatIndex(*this, indices, std::span(shape).first(static_cast<size_t>(k)));
  if (!flat) return nullptr;
  const Dim extent = NumElements(Shape(shape.begin(), shape.begin() + k));
  const Dim rest = NumElements(Shape(shape.begin() + k, shape.end()));
  const Dim count = NumElements(Shape(inner.begin(), inner.end() - 1));
  const Value match = Eq(Reshape(flat, {Dim(1), Dim(1), count}),
                         Reshape(Arange(flat->dtype.scalar(), extent), {extent, Dim(1), Dim(1)}));
  // [extent, rest, count]
  const Value terms = Unsqueeze(SwapAxes(Reshape(updates, {count, rest}), 0, 1), 0);
  return Reshape(Combine(*this, Reshape(x, {extent, rest}), match, terms, reduce), shape);
}

Value GraphBuilder::OneHot(Value indices, const Dim& depth, int64_t axis, Value off, Value on) {
  if (!indices) return nullptr;
  if (indices->dtype.is_float()) indices = Cast(indices, Scalar::kI64);
  const Value places = Unsqueeze(FromStart(*this, indices, depth), axis);
  if (!places) return nullptr;
  Shape counted(Rank(places), Dim(1));
  counted[static_cast<size_t>(*Axis(axis, Rank(places)))] = depth;
  return Where(Eq(places, Reshape(Arange(places->dtype.scalar(), depth), counted)), on, off);
}

}  // namespace tg::frontend
