#include "ir/view/view.h"

#include <algorithm>

#include "base/check.h"
#include "ir/shape.h"

namespace tg {
namespace {

const UOp* IndexNode(Context& ctx, Op op, const Dim& a, const Dim& b) {
  return ctx.Make(op, kIndex, {DimNode(ctx, a), DimNode(ctx, b)});
}

// Both are numbers and in this relation; false where it is not known.
bool KnownEqual(const Dim& a, const Dim& b) { return a == b; }
bool KnownAtMost(const Dim& a, const Dim& b) {
  return !a.is_symbolic() && !b.is_symbolic() && a.value() <= b.value();
}

DimPairs FullMask(const Shape& shape) {
  DimPairs mask;
  for (const Dim& d : shape) mask.emplace_back(Dim(0), d);
  return mask;
}

bool HasZero(const Shape& shape) {
  return std::any_of(shape.begin(), shape.end(), [](const Dim& d) { return d.Is(0); });
}

// Several neighbouring axes seen as a single one of extent `size`. For f in [begin, end), the
// row-major number of their coordinates, their contribution to the address is base + stride * f.
// Other f are not valid.
struct Run {
  Dim size = 1;
  Dim stride = 0;
  Dim base = 0;
  Dim begin = 0;
  Dim end = 1;
  bool is_full() const { return begin.Is(0) && end == size; }
};

// Merges axis `a` (outer) with run `b` if a single linear function still gives the addresses and a
// single interval the valid positions.
bool MergeInto(Context& ctx, const Run& a, Run& b) {
  const Dim length = SubDims(ctx, a.end, a.begin);
  const bool single = length.Is(1);
  if (!single && !KnownEqual(a.stride, MulDims(ctx, b.size, b.stride))) return false;
  if (!single && !b.is_full()) return false;
  Run merged;
  merged.size = MulDims(ctx, a.size, b.size);
  merged.stride = b.stride;
  if (single) {
    // Only coordinate a.begin counts; the run's own numbers start at a.begin * b.size there.
    const Dim skipped = MulDims(ctx, a.begin, b.size);
    merged.base = AddDims(ctx, b.base, MulDims(ctx, a.begin, a.stride));
    merged.base = SubDims(ctx, merged.base, MulDims(ctx, skipped, b.stride));
    merged.begin = AddDims(ctx, skipped, b.begin);
    merged.end = AddDims(ctx, skipped, b.end);
  } else {
    merged.base = b.base;
    merged.begin = MulDims(ctx, a.begin, b.size);
    merged.end = MulDims(ctx, a.end, b.size);
  }
  b = merged;
  return true;
}

// The runs of a view, innermost first; axes of size 1 are dropped.
std::vector<Run> RunsOf(Context& ctx, const View& v) {
  std::vector<Run> runs;
  for (size_t i = v.shape().size(); i-- > 0;) {
    if (v.shape()[i].Is(1)) continue;
    Run axis{v.shape()[i], v.strides()[i], 0, 0, v.shape()[i]};
    if (v.has_mask()) {
      axis.begin = v.mask()[i].first;
      axis.end = v.mask()[i].second;
    }
    if (runs.empty() || !MergeInto(ctx, axis, runs.back())) runs.push_back(axis);
  }
  return runs;
}

struct NewAxis {
  Dim stride = 0;
  Dim begin = 0;
  Dim end = 1;
};

// Splits the interval of a run off an innermost piece of size `piece`; false where it is no box.
bool SplitInterval(Context& ctx, const Dim& piece, bool is_last, Run& rest, NewAxis& axis) {
  if (rest.is_full() || is_last) {
    axis.begin = is_last ? rest.begin : Dim(0);
    axis.end = is_last ? rest.end : piece;
    if (is_last) return true;
    TG_CHECK(!rest.size.is_symbolic() && !piece.is_symbolic());
    rest.size = rest.size.value() / piece.value();
    rest.begin = 0;
    rest.end = rest.size;
    return true;
  }
  (void)ctx;
  if (rest.begin.is_symbolic() || rest.end.is_symbolic() || piece.is_symbolic()) return false;
  const int64_t p = piece.value(), l = rest.begin.value(), r = rest.end.value();
  if (l % p == 0 && r % p == 0) {
    axis.begin = 0;
    axis.end = p;
    rest.begin = l / p;
    rest.end = r / p;
  } else if (l / p == (r - 1) / p) {
    axis.begin = l % p;
    axis.end = (r - 1) % p + 1;
    rest.begin = l / p;
    rest.end = l / p + 1;
  } else {
    return false;
  }
  rest.size = rest.size.value() / p;
  return true;
}

}  // namespace

Dim MaxDims(Context& ctx, const Dim& a, const Dim& b) {
  if (a == b) return a;
  if (!a.is_symbolic() && !b.is_symbolic()) return std::max(a.value(), b.value());
  return IndexNode(ctx, Op::kMax, a, b);
}

Dim MinDims(Context& ctx, const Dim& a, const Dim& b) {
  if (a == b) return a;
  if (!a.is_symbolic() && !b.is_symbolic()) return std::min(a.value(), b.value());
  return IndexNode(ctx, Op::kMin, a, b);
}

std::vector<Dim> RowMajorStrides(Context& ctx, const Shape& shape) {
  std::vector<Dim> strides(shape.size());
  Dim stride = 1;
  for (size_t i = shape.size(); i-- > 0;) {
    strides[i] = shape[i].Is(1) ? Dim(0) : stride;
    stride = MulDims(ctx, shape[i], stride);
  }
  return strides;
}

View View::Contiguous(Context& ctx, Shape shape) {
  std::vector<Dim> strides = RowMajorStrides(ctx, shape);
  return Make(ctx, std::move(shape), std::move(strides), 0, {});
}

View View::Make(Context& ctx, Shape shape, std::vector<Dim> strides, Dim offset, DimPairs mask) {
  TG_CHECK(strides.size() == shape.size() && (mask.empty() || mask.size() == shape.size()));
  View v;
  v.shape_ = std::move(shape);
  v.strides_ = std::move(strides);
  v.offset_ = offset;
  v.mask_ = std::move(mask);
  if (HasZero(v.shape_)) {
    v.strides_.assign(v.shape_.size(), 0);
    v.offset_ = 0;
    v.mask_.clear();
    return v;
  }
  for (size_t i = 0; i < v.mask_.size(); ++i) {
    const auto& [begin, end] = v.mask_[i];
    if (KnownAtMost(end, begin)) {
      v.strides_.assign(v.shape_.size(), 0);
      v.offset_ = 0;
      v.mask_.assign(v.shape_.size(), {0, 0});
      return v;
    }
    if (SubDims(ctx, end, begin).Is(1)) {
      v.offset_ = AddDims(ctx, v.offset_, MulDims(ctx, begin, v.strides_[i]));
      v.strides_[i] = 0;
    }
  }
  if (v.mask_ == FullMask(v.shape_)) v.mask_.clear();
  for (size_t i = 0; i < v.shape_.size(); ++i) {
    if (v.shape_[i].Is(1)) v.strides_[i] = 0;
  }
  return v;
}

bool View::is_contiguous(Context& ctx) const {
  if (HasZero(shape_)) return true;
  return offset_.Is(0) && mask_.empty() && strides_ == RowMajorStrides(ctx, shape_);
}

bool View::is_static() const {
  bool numbers = IsStatic(shape_) && IsStatic(strides_) && !offset_.is_symbolic();
  for (const auto& [b, e] : mask_) numbers &= !b.is_symbolic() && !e.is_symbolic();
  return numbers;
}

bool View::is_void() const {
  return std::any_of(mask_.begin(), mask_.end(),
                     [](const auto& m) { return KnownAtMost(m.second, m.first); });
}

View View::Permute(Context& ctx, std::span<const int64_t> order) const {
  TG_CHECK(order.size() == shape_.size());
  Shape shape;
  std::vector<Dim> strides;
  DimPairs mask;
  for (int64_t axis : order) {
    const auto i = static_cast<size_t>(axis);
    shape.push_back(shape_[i]);
    strides.push_back(strides_[i]);
    if (has_mask()) mask.push_back(mask_[i]);
  }
  return Make(ctx, std::move(shape), std::move(strides), offset_, std::move(mask));
}

View View::Flip(Context& ctx, std::span<const int64_t> axes) const {
  View v = *this;
  for (int64_t axis : axes) {
    const auto i = static_cast<size_t>(axis);
    const Dim last = SubDims(ctx, shape_[i], 1);
    v.offset_ = AddDims(ctx, v.offset_, MulDims(ctx, last, v.strides_[i]));
    v.strides_[i] = SubDims(ctx, 0, v.strides_[i]);
    if (has_mask()) {
      v.mask_[i] = {SubDims(ctx, shape_[i], mask_[i].second),
                    SubDims(ctx, shape_[i], mask_[i].first)};
    }
  }
  return Make(ctx, v.shape_, v.strides_, v.offset_, v.mask_);
}

// Takes coordinates [bounds[i].first, bounds[i].second) of each axis, which may reach outside of
// it. In the result, only coordinates in `valid` (and in the old mask) are valid.
View View::Resize(Context& ctx, const DimPairs& bounds, const DimPairs& valid) const {
  TG_CHECK(bounds.size() == shape_.size());
  Shape shape;
  Dim offset = offset_;
  DimPairs mask;
  for (size_t i = 0; i < shape_.size(); ++i) {
    const auto& [first, past] = bounds[i];
    const Dim size = SubDims(ctx, past, first);
    shape.push_back(size);
    offset = AddDims(ctx, offset, MulDims(ctx, first, strides_[i]));
    Dim begin = valid.empty() ? Dim(0) : valid[i].first;
    Dim end = valid.empty() ? size : valid[i].second;
    if (has_mask()) {
      begin = MaxDims(ctx, begin, SubDims(ctx, mask_[i].first, first));
      end = MinDims(ctx, end, SubDims(ctx, mask_[i].second, first));
    }
    mask.emplace_back(begin, end);
  }
  return Make(ctx, std::move(shape), strides_, offset, std::move(mask));
}

View View::Shrink(Context& ctx, const DimPairs& bounds) const { return Resize(ctx, bounds, {}); }

View View::Pad(Context& ctx, const DimPairs& amounts) const {
  TG_CHECK(amounts.size() == shape_.size());
  DimPairs bounds, valid;
  for (size_t i = 0; i < shape_.size(); ++i) {
    const auto& [before, after] = amounts[i];
    bounds.emplace_back(SubDims(ctx, 0, before), AddDims(ctx, shape_[i], after));
    valid.emplace_back(before, AddDims(ctx, before, shape_[i]));
  }
  return Resize(ctx, bounds, valid);
}

View View::Expand(Context& ctx, const Shape& shape) const {
  TG_CHECK(shape.size() == shape_.size());
  DimPairs mask = mask_;
  for (size_t i = 0; i < mask.size(); ++i) {
    // The axis has one coordinate. If it is valid, so are all coordinates that it is expanded to;
    // otherwise none is.
    if (shape[i] != shape_[i]) mask[i] = {0, mask_[i].second.Is(1) ? shape[i] : Dim(0)};
  }
  return Make(ctx, shape, strides_, offset_, std::move(mask));
}

std::optional<View> View::Reshape(Context& ctx, const Shape& shape) const {
  if (shape == shape_) return *this;
  if (HasZero(shape) || is_contiguous(ctx)) return Contiguous(ctx, shape);
  if (is_void()) {
    if (shape.empty()) return std::nullopt;  // rank 0 has no mask to say so
    return Make(ctx, shape, std::vector<Dim>(shape.size(), 0), 0, DimPairs(shape.size(), {0, 0}));
  }
  // A masked axis of size 1 could only be void, which is handled above: runs may drop such axes.
  std::vector<NewAxis> axes(shape.size());
  Dim offset = offset_;
  size_t next = shape.size();  // one past the next axis to place
  for (const Run& run : RunsOf(ctx, *this)) {
    offset = AddDims(ctx, offset, run.base);
    Run rest = run;
    Dim taken = 1;
    while (taken != run.size) {
      if (next == 0) return std::nullopt;
      const size_t i = --next;
      if (shape[i].Is(1)) continue;
      axes[i].stride = MulDims(ctx, run.stride, taken);
      const Dim now = MulDims(ctx, shape[i], taken);
      const bool is_last = now == run.size;
      if (!is_last) {
        // A piece of a run must divide it, in numbers.
        const bool numbers = !now.is_symbolic() && !run.size.is_symbolic();
        if (!numbers || run.size.value() % now.value() != 0) return std::nullopt;
      }
      if (!SplitInterval(ctx, shape[i], is_last, rest, axes[i])) return std::nullopt;
      taken = now;
    }
  }
  while (next > 0) {
    if (!shape[--next].Is(1)) return std::nullopt;
  }
  std::vector<Dim> strides;
  DimPairs mask;
  for (const NewAxis& a : axes) {
    strides.push_back(a.stride);
    mask.emplace_back(a.begin, a.end);
  }
  return Make(ctx, shape, std::move(strides), offset, std::move(mask));
}

View View::Minified(Context& ctx) const {
  if (is_void() || HasZero(shape_)) return *this;
  Shape shape;
  for (const Run& run : RunsOf(ctx, *this)) shape.insert(shape.begin(), run.size);
  const std::optional<View> v = Reshape(ctx, shape);
  return v ? *v : *this;
}

}  // namespace tg
