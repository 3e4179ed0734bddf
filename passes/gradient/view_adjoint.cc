// The adjoint of a view adds each element of the gradient to the element that it was read from.
// Movement ops express it: what a mask hides is cut off, and the axes are joined to one axis of the
// source's elements, one after the other.
#include <algorithm>
#include <utility>
#include <vector>

#include "ir/view/shape_tracker.h"
#include "passes/gradient/adjoint.h"

namespace tg::gradient {
namespace {

struct StridedAxis {
  int64_t extent = 0, stride = 0;
  size_t position = 0;
};

// Chooses the order in which axes are joined. The first ones go into `disjoint`: along each, rows
// of the axes before it do not overlap, so that joining it costs nothing. Along the others, rows
// overlap and are added; these should have few elements, like the axis of a window.
void OrderAxes(std::vector<StridedAxis> axes, std::vector<StridedAxis>& disjoint,
               std::vector<StridedAxis>& overlapping) {
  std::sort(axes.begin(), axes.end(), [](const StridedAxis& a, const StridedAxis& b) {
    return std::pair(a.stride, -a.extent) < std::pair(b.stride, -b.extent);
  });
  const auto length = [&] {
    int64_t n = 1;
    for (const StridedAxis& a : disjoint) n += (a.extent - 1) * a.stride;
    return n;
  };
  for (const StridedAxis& axis : axes) {
    while (axis.stride < length() && disjoint.back().extent < axis.extent) {
      overlapping.push_back(disjoint.back());
      disjoint.pop_back();
    }
    (axis.stride < length() ? overlapping : disjoint).push_back(axis);
  }
}

// Joins the last two axes of `x`, whose last one has `length` elements: element j of row i is added
// to element i * stride + j.
const UOp* JoinRows(GradientGraph& g, const UOp* x, const StridedAxis& axis, int64_t length) {
  const Shape shape = g.shapes.Of(x);
  const size_t rank = shape.size();
  const int64_t joined = (axis.extent - 1) * axis.stride + length;
  const auto resized = [&](const UOp* value, int64_t last) {
    const Shape& from = g.shapes.Of(value);
    std::vector<std::pair<Dim, Dim>> pairs;
    const int64_t more = last - from.back().value();
    if (more == 0) return value;
    for (const Dim& d : from)
      pairs.push_back(more > 0 ? std::pair<Dim, Dim>{0, 0} : std::pair{Dim(0), d});
    pairs.back() = more > 0 ? std::pair<Dim, Dim>{0, more} : std::pair<Dim, Dim>{0, last};
    return more > 0 ? g.b.Pad(value, pairs) : g.b.Shrink(value, pairs);
  };
  Shape flat(shape.begin(), shape.end() - 2);
  if (axis.stride >= length) {
    flat.push_back(axis.extent * axis.stride);
    return resized(g.b.Reshape(resized(x, axis.stride), flat), joined);
  }
  // Rows of joined + stride elements, read as rows of `joined`: each begins `stride` later than the
  // one before it.
  flat.push_back(axis.extent * (joined + axis.stride));
  x = resized(g.b.Reshape(resized(x, joined + axis.stride), flat), axis.extent * joined);
  Shape rows(shape.begin(), shape.end() - 2);
  rows.push_back(axis.extent);
  rows.push_back(joined);
  x = g.b.ReduceAxis(g.b.Reshape(x, rows), Op::kAdd,
                     std::vector<int64_t>{static_cast<int64_t>(rank) - 2});
  rows.erase(rows.end() - 2);
  return g.b.Reshape(x, rows);
}

// The adjoint of one view of `size` elements.
const UOp* OfOneView(GradientGraph& g, const View& view, const UOp* dy, int64_t size) {
  int64_t first = view.offset().value();
  std::vector<std::pair<Dim, Dim>> bounds;
  std::vector<int64_t> repeated, reversed;
  std::vector<StridedAxis> axes;
  bool is_empty = view.is_void();
  for (size_t i = 0; i < view.shape().size(); ++i) {
    const auto [from, to] = view.has_mask() ? view.mask()[i] : std::pair(Dim(0), view.shape()[i]);
    bounds.push_back({from, to});
    const int64_t extent = to.value() - from.value(), stride = view.strides()[i].value();
    is_empty |= extent <= 0;
    first += from.value() * stride;
    if (stride == 0) repeated.push_back(static_cast<int64_t>(i));
    if (stride < 0) {
      reversed.push_back(static_cast<int64_t>(i));
      first += (extent - 1) * stride;
    }
    if (stride != 0) axes.push_back({extent, std::abs(stride), i});
  }
  if (is_empty) return g.b.Broadcast(g.b.Const(dy->dtype, 0), {size});
  if (view.has_mask()) dy = g.b.Shrink(dy, bounds);
  if (!reversed.empty()) dy = g.b.Flip(dy, reversed);
  if (!repeated.empty()) dy = g.b.ReduceAxis(dy, Op::kAdd, repeated);
  std::vector<StridedAxis> disjoint, overlapping;
  OrderAxes(std::move(axes), disjoint, overlapping);
  std::vector<StridedAxis> joined = disjoint;
  joined.insert(joined.end(), overlapping.begin(), overlapping.end());
  // The axis that is joined first is the last one.
  std::vector<int64_t> order = repeated;
  Shape shape;
  for (auto a = joined.rbegin(); a != joined.rend(); ++a) {
    order.push_back(static_cast<int64_t>(a->position));
    shape.push_back(a->extent);
  }
  shape.push_back(1);
  dy = g.b.Reshape(g.b.Permute(dy, order), shape);
  int64_t length = 1;
  for (const StridedAxis& axis : joined) {
    dy = JoinRows(g, dy, axis, length);
    length += (axis.extent - 1) * axis.stride;
  }
  return g.b.Pad(dy, {{first, size - first - length}});
}

}  // namespace

const UOp* OfView(GradientGraph& g, const UOp* u, const UOp* dy) {
  const ShapeTracker tracker = TrackerOf(g.b.context(), u);
  const Shape& from = g.shapes.Of(u->src(0));
  if (!tracker.is_static() || !IsStatic(from)) return g.Refuse("it is a view of symbolic extents");
  for (size_t i = tracker.views().size(); i-- > 0;) {
    const Shape& under = i == 0 ? from : tracker.views()[i - 1].shape();
    dy = g.b.Reshape(OfOneView(g, tracker.views()[i], dy, NumElements(under)), under);
  }
  return dy;
}

}  // namespace tg::gradient
