#include "passes/kernelize/view_repeats.h"

#include <algorithm>
#include <numeric>
#include <vector>

#include "ir/view/shape_tracker.h"

namespace tg::kernelize {
namespace {

// The axes of a view from the greatest stride to the least, if it reads each of `elements` elements
// once; else empty.
std::vector<int64_t> RowMajorOrder(const View& view, int64_t elements) {
  if (view.has_mask() || !view.offset().Is(0)) return {};
  std::vector<int64_t> order(view.shape().size());
  std::iota(order.begin(), order.end(), 0);
  const auto stride = [&](int64_t k) { return view.strides()[static_cast<size_t>(k)].value(); };
  std::stable_sort(order.begin(), order.end(),
                   [&](int64_t a, int64_t c) { return stride(a) > stride(c); });
  int64_t next = 1;
  for (size_t n = order.size(); n-- > 0;) {
    const int64_t size = view.shape()[static_cast<size_t>(order[n])].value();
    if (size != 1 && stride(order[n]) != next) return {};
    next *= size;
  }
  return next == elements ? order : std::vector<int64_t>();
}

const UOp* Moved(Builder& b, const Shape& from, const UOp* x, const ShapeTracker& tracker) {
  std::vector<int64_t> order;
  if (tracker.views().size() == 1 && IsStatic(from)) {
    order = RowMajorOrder(tracker.views()[0], NumElements(from));
  }
  if (order.empty()) return MakeView(b, x, tracker);
  Shape rows;
  std::vector<int64_t> back(order.size());
  for (size_t n = 0; n < order.size(); ++n) {
    rows.push_back(tracker.shape()[static_cast<size_t>(order[n])]);
    back[static_cast<size_t>(order[n])] = static_cast<int64_t>(n);
  }
  const UOp* all = rows == from ? x : b.Reshape(x, rows);
  return std::is_sorted(back.begin(), back.end()) ? all : b.Permute(all, back);
}

}  // namespace

const UOp* WithExpand(Builder& b, const Shape& from, const UOp* view) {
  if (view->num_srcs > 1) return view;
  Context& ctx = b.context();
  const ShapeTracker tracker = TrackerOf(ctx, view);
  const View& last = tracker.views().back();
  DimPairs once;
  bool repeats = false;
  for (size_t k = 0; k < last.shape().size(); ++k) {
    const Dim& size = last.shape()[k];
    const bool whole = !last.has_mask() || last.mask()[k] == std::pair<Dim, Dim>(0, size);
    const bool is_repeat = size.value() > 1 && last.strides()[k].Is(0) && whole;
    once.emplace_back(0, is_repeat ? Dim(1) : size);
    repeats |= is_repeat;
  }
  if (!repeats) return view;
  return b.Expand(Moved(b, from, view->src(0), tracker.Shrink(ctx, once)), last.shape());
}

}  // namespace tg::kernelize
