#include "ir/view/shape_tracker.h"

#include <algorithm>

#include "base/check.h"
#include "ir/op_groups.h"
#include "ir/shape.h"
#include "ir/walk.h"

namespace tg {
namespace {

// Merges the last two views for as long as that is possible.
void Simplify(Context& ctx, std::vector<View>& views) {
  while (views.size() > 1) {
    const std::optional<View> merged = Compose(ctx, views[views.size() - 2], views.back());
    if (!merged) return;
    views.pop_back();
    views.back() = *merged;
  }
}

// ---- Expressions over index, with the plainest identities folded.

const UOp* AddNodes(Builder& b, const UOp* x, const UOp* y) {
  if (IsConst(x) && x->word() == 0) return y;
  if (IsConst(y) && y->word() == 0) return x;
  return b.Add(x, y);
}

const UOp* MulNode(Builder& b, const UOp* x, const Dim& k) {
  if (k.Is(1)) return x;
  if (k.Is(0)) return b.Index(0);
  return b.Mul(x, b.Index(k));
}

const UOp* AndNodes(Builder& b, const UOp* x, const UOp* y) {
  if (!x) return y;
  return y ? b.And(x, y) : x;
}

// One view's address and validity at `coordinates`.
ShapeTracker::Address AddressIn(Builder& b, const View& v, UOpSpan coordinates,
                                const UOp* valid_so_far) {
  ShapeTracker::Address a{b.Index(v.offset()), valid_so_far};
  for (size_t i = 0; i < coordinates.size(); ++i) {
    const UOp* c = coordinates[i];
    if (!v.shape()[i].Is(1)) a.index = AddNodes(b, a.index, MulNode(b, c, v.strides()[i]));
    if (!v.has_mask()) continue;
    const auto& [begin, end] = v.mask()[i];
    if (!begin.Is(0)) a.valid = AndNodes(b, a.valid, b.Not(b.Lt(c, b.Index(begin))));
    if (end != v.shape()[i]) a.valid = AndNodes(b, a.valid, b.Lt(c, b.Index(end)));
  }
  return a;
}

// Row-major coordinates of number `flat` in `shape`.
std::vector<const UOp*> Unravel(Builder& b, const Shape& shape, const UOp* flat) {
  std::vector<const UOp*> at(shape.size());
  Dim stride = 1;
  for (size_t i = shape.size(); i-- > 0;) {
    const UOp* c = flat;
    if (!stride.Is(1)) c = b.Alu(Op::kFloorDiv, {c, b.Index(stride)});
    if (i > 0) c = b.Alu(Op::kFloorMod, {c, b.Index(shape[i])});
    at[i] = shape[i].Is(1) ? b.Index(0) : c;
    stride = MulDims(b.context(), shape[i], stride);
  }
  return at;
}

// ---- Strides, read off the address expression.

// Adds factor times the coefficients of the coordinates in `u` to `strides`. Coordinates that do
// not enter linearly are marked as uneven.
struct StrideReader {
  Context& ctx;
  UOpSpan coordinates;
  std::vector<std::optional<Dim>> strides;

  // Marks every axis that `u` depends on.
  void Spoil(const UOp* root) {
    std::vector<const UOp*> stack = {root};
    NodeSet seen;
    while (!stack.empty()) {
      const UOp* u = stack.back();
      stack.pop_back();
      if (!seen.Insert(u)) continue;
      for (size_t i = 0; i < coordinates.size(); ++i) {
        if (coordinates[i] == u) strides[i] = std::nullopt;
      }
      for (const UOp* s : u->srcs()) stack.push_back(s);
    }
  }

  void Read(const UOp* root) {
    std::vector<std::pair<const UOp*, Dim>> stack = {{root, 1}};
    while (!stack.empty()) {
      const auto [u, factor] = stack.back();
      stack.pop_back();
      const auto c = std::find(coordinates.begin(), coordinates.end(), u);
      if (c != coordinates.end()) {
        auto& stride = strides[static_cast<size_t>(c - coordinates.begin())];
        if (stride) stride = AddDims(ctx, *stride, factor);
      } else if (u->op == Op::kAdd) {
        stack.emplace_back(u->src(0), factor);
        stack.emplace_back(u->src(1), factor);
      } else if (u->op == Op::kMul && std::find(coordinates.begin(), coordinates.end(),
                                                u->src(0)) != coordinates.end()) {
        stack.emplace_back(u->src(0), MulDims(ctx, factor, Dim(u->src(1))));
      } else if (u->op == Op::kMul && IsConst(u->src(1))) {
        stack.emplace_back(u->src(0), MulDims(ctx, factor, Dim(u->src(1))));
      } else {
        Spoil(u);
      }
    }
  }
};

}  // namespace

ShapeTracker ShapeTracker::Contiguous(Context& ctx, Shape shape) {
  return ShapeTracker({View::Contiguous(ctx, std::move(shape))});
}

ShapeTracker ShapeTracker::Of(Context& ctx, std::vector<View> views) {
  TG_CHECK(!views.empty());
  std::vector<View> merged;
  for (View& v : views) {
    merged.push_back(std::move(v));
    Simplify(ctx, merged);
  }
  return ShapeTracker(std::move(merged));
}

bool ShapeTracker::is_static() const {
  return std::all_of(views_.begin(), views_.end(), [](const View& v) { return v.is_static(); });
}

ShapeTracker ShapeTracker::WithLast(Context& ctx, View last) const {
  ShapeTracker st = *this;
  st.views_.back() = std::move(last);
  Simplify(ctx, st.views_);
  return st;
}

ShapeTracker ShapeTracker::Permute(Context& ctx, std::span<const int64_t> order) const {
  return WithLast(ctx, views_.back().Permute(ctx, order));
}
ShapeTracker ShapeTracker::Flip(Context& ctx, std::span<const int64_t> axes) const {
  return WithLast(ctx, views_.back().Flip(ctx, axes));
}
ShapeTracker ShapeTracker::Shrink(Context& ctx, const DimPairs& bounds) const {
  return WithLast(ctx, views_.back().Shrink(ctx, bounds));
}
ShapeTracker ShapeTracker::Pad(Context& ctx, const DimPairs& amounts) const {
  return WithLast(ctx, views_.back().Pad(ctx, amounts));
}
ShapeTracker ShapeTracker::Expand(Context& ctx, const Shape& shape) const {
  return WithLast(ctx, views_.back().Expand(ctx, shape));
}

ShapeTracker ShapeTracker::Reshape(Context& ctx, const Shape& shape) const {
  if (const std::optional<View> v = views_.back().Reshape(ctx, shape)) return WithLast(ctx, *v);
  ShapeTracker st = *this;
  st.views_.push_back(View::Contiguous(ctx, shape));
  return st;
}

ShapeTracker ShapeTracker::After(Context& ctx, const UOp* u) const {
  switch (MovementOp(u->op)) {
    case MovementOp::kReshape:
      return Reshape(ctx, DimsOf(u));
    case MovementOp::kExpand:
      return Expand(ctx, DimsOf(u));
    case MovementOp::kBroadcast: {
      const Shape to = DimsOf(u);
      Shape aligned = shape();
      aligned.insert(aligned.begin(), to.size() - aligned.size(), Dim(1));
      return Reshape(ctx, aligned).Expand(ctx, to);
    }
    case MovementOp::kPermute:
      return Permute(ctx, u->list());
    case MovementOp::kFlip:
      return Flip(ctx, u->list());
    case MovementOp::kPad:
      return Pad(ctx, PairsOf(u));
    case MovementOp::kShrink:
      return Shrink(ctx, PairsOf(u));
    case MovementOp::kView:
      return Then(ctx, TrackerOf(ctx, u));
  }
  TG_UNREACHABLE();
}

ShapeTracker ShapeTracker::Then(Context& ctx, const ShapeTracker& next) const {
  std::vector<View> views = views_;
  for (const View& v : next.views_) {
    views.push_back(v);
    Simplify(ctx, views);
  }
  return ShapeTracker(std::move(views));
}

std::optional<int64_t> ShapeTracker::Locate(std::span<const int64_t> coordinates,
                                            const DimValue& value) const {
  const auto number = [&](const Dim& d) { return d.is_symbolic() ? value(d.symbol()) : d.value(); };
  std::vector<int64_t> at(coordinates.begin(), coordinates.end());
  int64_t flat = 0;
  for (size_t k = views_.size(); k-- > 0;) {
    const View& v = views_[k];
    if (k + 1 < views_.size()) {
      at.resize(v.shape().size());
      for (size_t i = at.size(); i-- > 0;) {
        const int64_t size = number(v.shape()[i]);
        at[i] = flat % size;
        flat /= size;
      }
    }
    TG_CHECK(at.size() == v.shape().size());
    flat = number(v.offset());
    for (size_t i = 0; i < at.size(); ++i) {
      flat += at[i] * number(v.strides()[i]);
      if (!v.has_mask()) continue;
      if (at[i] < number(v.mask()[i].first) || at[i] >= number(v.mask()[i].second)) {
        return std::nullopt;
      }
    }
  }
  return flat;
}

ShapeTracker::Address ShapeTracker::AddressOf(Builder& b, UOpSpan coordinates) const {
  Address a = AddressIn(b, views_.back(), coordinates, nullptr);
  for (size_t k = views_.size() - 1; k-- > 0;) {
    // Fewer axes need fewer divisions.
    const View v = views_[k].Minified(b.context());
    a = AddressIn(b, v, Unravel(b, v.shape(), a.index), a.valid);
  }
  return a;
}

std::vector<std::optional<Dim>> ShapeTracker::RealStrides(Context& ctx, bool ignore_masks) const {
  const View& last = views_.back();
  std::vector<std::optional<Dim>> strides(last.shape().size(), Dim(0));
  if (views_.size() == 1) {
    for (size_t i = 0; i < strides.size(); ++i) {
      const bool masked = last.has_mask() && last.mask()[i] != std::pair(Dim(0), last.shape()[i]);
      if (ignore_masks || !masked) {
        strides[i] = last.strides()[i];
      } else {
        strides[i] = std::nullopt;
      }
    }
    return strides;
  }
  // Stand-ins for the coordinates: ranges, which no Dim mentions.
  Builder b(ctx);
  std::vector<const UOp*> coordinates;
  for (const Dim& d : last.shape()) {
    coordinates.push_back(d.Is(1) ? b.Index(0) : b.Range(b.Index(d)));
  }
  const Address a = AddressOf(b, coordinates);
  StrideReader reader{ctx, coordinates, std::move(strides)};
  reader.Read(a.index);
  if (a.valid && !ignore_masks) reader.Spoil(a.valid);
  return std::move(reader.strides);
}

int64_t ShapeTracker::RealSize() const {
  const View& v = views_.front();
  TG_CHECK(v.is_static());
  if (v.is_void()) return 0;
  int64_t greatest = v.offset().value();
  for (size_t i = 0; i < v.shape().size(); ++i) {
    if (v.shape()[i].Is(0)) return 0;
    const int64_t first = v.has_mask() ? v.mask()[i].first.value() : 0;
    const int64_t last = v.has_mask() ? v.mask()[i].second.value() - 1 : v.shape()[i].value() - 1;
    greatest += std::max(first * v.strides()[i].value(), last * v.strides()[i].value());
  }
  return greatest + 1;
}

ShapeTracker::Encoding ShapeTracker::Encode() const {
  Encoding e;
  const auto put = [&](const Dim& d) {
    e.words.push_back(d.is_symbolic() ? kSymbolic : d.value());
    if (d.is_symbolic()) e.symbols.push_back(d.symbol());
  };
  for (const View& v : views_) {
    e.words.push_back(static_cast<int64_t>(v.shape().size()));
    for (const Dim& d : v.shape()) put(d);
    for (const Dim& d : v.strides()) put(d);
    put(v.offset());
    e.words.push_back(v.has_mask());
    for (const auto& [begin, end] : v.mask()) {
      put(begin);
      put(end);
    }
  }
  e.words.insert(e.words.begin(), static_cast<int64_t>(e.words.size()));
  return e;
}

ShapeTracker ShapeTracker::Decode(Context& ctx, std::span<const int64_t> words, UOpSpan symbols) {
  size_t at = 1, next = 0;
  const auto take = [&] {
    const int64_t w = words[at++];
    return w == kSymbolic ? Dim(symbols[next++]) : Dim(w);
  };
  std::vector<View> views;
  while (at < words.size()) {
    const auto rank = static_cast<size_t>(words[at++]);
    Shape shape;
    std::vector<Dim> strides;
    for (size_t i = 0; i < rank; ++i) shape.push_back(take());
    for (size_t i = 0; i < rank; ++i) strides.push_back(take());
    const Dim offset = take();
    DimPairs mask;
    if (words[at++] != 0) {
      for (size_t i = 0; i < rank; ++i) {
        const Dim begin = take();
        mask.emplace_back(begin, take());
      }
    }
    views.push_back(View::Make(ctx, std::move(shape), std::move(strides), offset, std::move(mask)));
  }
  TG_CHECK(!views.empty());
  return ShapeTracker(std::move(views));
}

const UOp* MakeView(Builder& b, const UOp* x, const ShapeTracker& st) {
  const ShapeTracker::Encoding e = st.Encode();
  std::vector<const UOp*> srcs = {x};
  srcs.insert(srcs.end(), e.symbols.begin(), e.symbols.end());
  Context& ctx = b.context();
  return ctx.Make(Op::kView, x->dtype, srcs, ctx.MakeAttr(Op::kView, e.words));
}

ShapeTracker TrackerOf(Context& ctx, const UOp* view) {
  TG_CHECK(view->op == Op::kView);
  return ShapeTracker::Decode(ctx, view->words(), view->srcs().subspan(1));
}

}  // namespace tg
