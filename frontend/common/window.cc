// Windows over the last axes, and convolutions.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "base/arithmetic.h"
#include "frontend/common/graph_builder.h"

namespace tg::frontend {
namespace {}  // namespace

Value GraphBuilder::Windows(Value x, const Window& w, Value fill) {
  if (!x) return nullptr;
  const size_t n = w.kernel.size(), rank = Rank(x), lead = rank - n;
  if (rank < n || w.strides.size() != n || w.dilations.size() != n || w.pads_begin.size() != n ||
      w.pads_end.size() != n) {
    return Fail(absl::StrCat("windows of ", n, " axes over ", Describe(x)));
  }
  for (size_t i = 0; i < n; ++i) {
    if (w.kernel[i] < 1 || w.strides[i] < 1 || w.dilations[i] < 1) {
      return Fail("a window, stride or dilation below 1");
    }
    if (!ArePossible({{w.kernel[i], w.strides[i]}, {w.dilations[i], 0}})) return nullptr;
  }
  std::vector<std::pair<Dim, Dim>> pads(rank, {0, 0});
  for (size_t i = 0; i < n; ++i) pads[lead + i] = {w.pads_begin[i], w.pads_end[i]};
  x = Pad(x, pads, fill);
  if (!x) return nullptr;

  const Shape shape = ShapeOf(x);
  const Shape front(shape.begin(), shape.begin() + static_cast<ptrdiff_t>(lead));
  std::vector<Dim> out;
  bool overlaps = false;
  for (size_t i = 0; i < n; ++i) {
    const Dim& extent = shape[lead + i];
    const int64_t reach = MulDim(w.dilations[i], w.kernel[i] - 1).value() + 1;
    if (!ok()) return nullptr;
    if (!extent.is_symbolic() && extent.value() < reach) {
      return Fail(absl::StrCat("a window of ", reach, " over ", extent.value(), " elements"));
    }
    out.push_back(FloorDivDim(AddDim(extent, Dim(w.strides[i] - reach)), w.strides[i]));
    overlaps |= w.kernel[i] > w.strides[i] || w.dilations[i] != 1;
  }
  // Both forms end with axes [..., kernel, out, ...] for each windowed axis.
  const auto cut = [&](Value v, const std::vector<Dim>& to) {  // [0, to) of the last axes
    std::vector<std::pair<Dim, Dim>> bounds;
    const Shape from = ShapeOf(v);
    for (size_t i = 0; i < from.size(); ++i) {
      bounds.push_back({0, i < lead ? from[i] : to[i - lead]});
    }
    return ShrinkTo(v, bounds);
  };
  const auto with_front = [&](const std::vector<Dim>& rest) {
    Shape s = front;
    s.insert(s.end(), rest.begin(), rest.end());
    return s;
  };
  Ints order;
  for (size_t i = 0; i < lead; ++i) order.push_back(static_cast<int64_t>(i));
  if (overlaps) {
    // Repeats the axis, and reads it in rows that are `dilation` elements longer than one
    // repetition. So row k begins k * dilation elements later in the axis.
    std::vector<Dim> repeats, flat, rows, strided, split, picked, joined;
    for (size_t i = 0; i < n; ++i) {
      const Dim& extent = shape[lead + i];
      const int64_t k = w.kernel[i], d = w.dilations[i], s = w.strides[i];
      // A row must hold out * stride elements.
      const Dim needed = MulDim(out[i], Dim(s));
      int64_t periods = s > 1 ? 2 : 1;
      if (!extent.is_symbolic()) {
        periods = 1 + (needed.value() > extent.value() - d * (k - 1) ? 1 : 0);
        repeats.push_back(CeilDiv(k * (extent.value() * periods + d), extent.value()));
      } else {
        repeats.push_back(k * (periods + d));
      }
      const Dim row = AddDim(MulDim(extent, Dim(periods)), Dim(d));
      flat.push_back(MulDim(row, Dim(k)));
      rows.insert(rows.end(), {Dim(k), row});
      strided.insert(strided.end(), {Dim(k), needed});
      split.insert(split.end(), {Dim(k), out[i], Dim(s)});
      picked.insert(picked.end(), {Dim(k), out[i], Dim(1)});
      joined.insert(joined.end(), {Dim(k), out[i]});
    }
    Shape inserted = front, expanded = front, repeated = front;
    for (size_t i = 0; i < n; ++i) {
      const Dim& extent = shape[lead + i];
      inserted.insert(inserted.end(), {Dim(1), extent});
      expanded.insert(expanded.end(), {repeats[i], extent});
      repeated.push_back(MulDim(repeats[i], extent));
    }
    x = Reshape(BroadcastTo(Reshape(x, inserted), expanded), repeated);
    x = Reshape(cut(x, flat), with_front(rows));
    x = Reshape(cut(x, strided), with_front(split));
    x = Reshape(cut(x, picked), with_front(joined));
    for (size_t i = 0; i < n; ++i) order.push_back(static_cast<int64_t>(lead + 2 * i + 1));
    for (size_t i = 0; i < n; ++i) order.push_back(static_cast<int64_t>(lead + 2 * i));
    return Permute(x, order);
  }
  // Windows that do not overlap are rows of `stride` elements.
  std::vector<std::pair<Dim, Dim>> tail(rank, {0, 0});
  std::vector<Dim> whole, split, picked;
  for (size_t i = 0; i < n; ++i) {
    const Dim needed = MulDim(out[i], Dim(w.strides[i])), missing = SubDim(needed, shape[lead + i]);
    // The rows end at most stride - kernel elements behind a symbolic extent.
    const int64_t most = missing.is_symbolic() ? w.strides[i] - w.kernel[i] : missing.value();
    if (most > 0) tail[lead + i].second = most;
    whole.push_back(needed);
    split.insert(split.end(), {out[i], Dim(w.strides[i])});
    picked.insert(picked.end(), {out[i], Dim(w.kernel[i])});
    order.push_back(static_cast<int64_t>(lead + 2 * i));
  }
  for (size_t i = 0; i < n; ++i) order.push_back(static_cast<int64_t>(lead + 2 * i + 1));
  x = Reshape(cut(Pad(x, tail), whole), with_front(split));
  return Permute(cut(x, picked), order);
}

Value GraphBuilder::FoldWindows(Value x, const Window& w, const Shape& extents) {
  if (!x) return nullptr;
  const size_t n = w.kernel.size(), rank = Rank(x);
  if (rank < 2 * n || extents.size() != n) {
    return Fail(absl::StrCat("windows of ", n, " axes folded from ", Describe(x)));
  }
  Ints summed;
  for (size_t i = 0; i < n; ++i) {
    const size_t out = rank - 2 * n + i, tap = rank - n + i;
    const Dim count = Extent(x, static_cast<int64_t>(out));
    const int64_t k = w.kernel[i], d = w.dilations[i], s = w.strides[i];
    if (Extent(x, static_cast<int64_t>(tap)) != Dim(k)) {
      return Fail(absl::StrCat("windows of ", k, " elements folded from ", Describe(x)));
    }
    Ints order, back(rank);
    for (size_t a = 0; a < rank; ++a) {
      if (a != out && a != tap) order.push_back(static_cast<int64_t>(a));
    }
    order.insert(order.end(), {static_cast<int64_t>(tap), static_cast<int64_t>(out)});
    for (size_t a = 0; a < rank; ++a) back[static_cast<size_t>(order[a])] = static_cast<int64_t>(a);
    x = Permute(x, order);
    const auto pad_last = [&](const Dim& before, const Dim& after) {
      std::vector<std::pair<Dim, Dim>> pads(x ? Rank(x) : 1, {0, 0});
      pads.back() = {before, after};
      x = Pad(x, pads);
    };
    const auto last = static_cast<int64_t>(rank) - 1;
    if (s > 1) {
      x = Unsqueeze(x, -1);
      pad_last(0, s - 1);
      x = Flatten(x, last, last + 2);
    }
    // Tap k of a window is d * k elements after the window's start. Rows that are read with a
    // length that is smaller by d each begin d elements later.
    const int64_t front = d * (k - 1);
    const Dim padded = AddDim(extents[i], AddDim(w.pads_begin[i], w.pads_end[i]));
    const Dim skewed = AddDim(padded, Dim(front + s));
    pad_last(front, SubDim(AddDim(padded, Dim(d + s)), MulDim(count, Dim(s))));
    x = Slice(Flatten(x, last - 1, last + 1), -1, 0, MulDim(skewed, Dim(k)));
    if (!x) return nullptr;
    Shape rows = ShapeOf(x);
    rows.back() = Dim(k);
    rows.push_back(skewed);
    const Dim start = AddDim(w.pads_begin[i], Dim(front));
    x = Permute(Slice(Reshape(x, rows), -1, start, AddDim(extents[i], start)), back);
    summed.push_back(static_cast<int64_t>(tap));
  }
  return Sum(x, summed);
}

Value GraphBuilder::Conv(Value x, Value weight, Value bias, const Window& window, int64_t groups) {
  if (!x || !weight) return nullptr;
  const size_t n = window.kernel.size();
  if (Rank(x) != n + 2 || Rank(weight) != n + 2 || groups < 1 || x->dtype != weight->dtype) {
    return Fail(absl::StrCat("a convolution of ", Describe(x), " with ", Describe(weight)));
  }
  const Dim channels = Extent(x, 1), filters = Extent(weight, 0), depth = Extent(weight, 1);
  if (channels.is_symbolic() || filters.is_symbolic() || depth.is_symbolic() ||
      channels.value() != depth.value() * groups || filters.value() % groups != 0) {
    return Fail(absl::StrCat("a convolution of ", Describe(x), " with ", Describe(weight), " in ",
                             groups, " groups"));
  }
  const Scalar type = x->dtype.scalar();
  // [batch, groups, 1, out..., depth, kernel...] times [groups, filters, 1..., depth, kernel...].
  Value windows = Windows(Widen(x), window, nullptr);
  if (!windows) return nullptr;
  const Shape shape = ShapeOf(windows);
  Shape split{shape[0], Dim(groups), depth};
  split.insert(split.end(), shape.begin() + 2, shape.end());
  windows = Reshape(windows, split);
  Ints order{0, 1};
  for (size_t i = 0; i < n; ++i) order.push_back(static_cast<int64_t>(3 + i));
  order.push_back(2);
  for (size_t i = 0; i < n; ++i) order.push_back(static_cast<int64_t>(3 + n + i));
  windows = Unsqueeze(Permute(windows, order), 2);
  Shape kernel{Dim(1), Dim(groups), Dim(filters.value() / groups)};
  kernel.insert(kernel.end(), n, Dim(1));
  kernel.push_back(depth);
  const Shape weights = ShapeOf(weight);
  kernel.insert(kernel.end(), weights.begin() + 2, weights.end());
  Ints summed;
  for (size_t i = 0; i <= n; ++i) summed.push_back(-1 - static_cast<int64_t>(i));
  Value y = Sum(Mul(windows, Reshape(Widen(weight), kernel)), summed);
  y = Flatten(y, 1, 3);
  if (bias) {
    Shape along(n + 2, Dim(1));
    along[1] = filters;
    y = Add(y, Reshape(Widen(bias), along));
  }
  if (y && y->dtype == x->dtype) convolutions_[y] = {x, weight, bias, window, groups};
  return Cast(y, type);
}

bool GraphBuilder::IsFixed(Value x) {
  constexpr size_t kMaxNodes = 256;
  std::vector<Value> stack{x};
  std::set<Value> seen;
  while (!stack.empty()) {
    const Value v = stack.back();
    stack.pop_back();
    if (!seen.insert(v).second) continue;
    if (seen.size() > kMaxNodes) return false;
    if (v->op == Op::kBuffer) {
      const BufferDecl* decl =
          module_.FindBuffer(ir_.context().String(static_cast<StringId>(v->word())));
      if (!decl || decl->role != Role::kParam) return false;
    } else if (v->num_srcs == 0 && v->op != Op::kConst && v->op != Op::kIota) {
      return false;
    }
    stack.insert(stack.end(), v->srcs().begin(), v->srcs().end());
  }
  return true;
}

Value GraphBuilder::ScaleConv(Value conv, Value scale, Value shift) {
  if (!conv || !scale || !shift) return nullptr;
  if (const auto found = phases_.find(conv); found != phases_.end()) {
    const Phases phases = found->second;
    const Shape filters{Extent(conv, 1)};
    const auto repeated = [&](Value v) {
      return RepeatInterleave(Reshape(v, filters), 0, phases.Count());
    };
    if (NumElements(ShapeOf(scale)) != filters[0] || NumElements(ShapeOf(shift)) != filters[0]) {
      return nullptr;
    }
    return Interleave(ScaleConv(phases.conv, repeated(scale), repeated(shift)), phases);
  }
  const auto found = convolutions_.find(conv);
  if (found == convolutions_.end()) return nullptr;
  const Convolution c = found->second;
  const Shape weight = ShapeOf(c.weight), vector{weight[0]};
  for (const Value v : {scale, shift}) {
    if (v->dtype != conv->dtype || NumElements(ShapeOf(v)) != vector[0]) return nullptr;
  }
  if (!IsFixed(c.weight) || !IsFixed(scale) || !IsFixed(shift) || (c.bias && !IsFixed(c.bias))) {
    return nullptr;
  }
  Shape filters(weight.size(), Dim(1));
  filters[0] = weight[0];
  scale = Reshape(scale, vector);
  shift = Reshape(shift, vector);
  if (c.bias) shift = Add(Mul(c.bias, scale), shift);
  return Conv(c.x, Mul(c.weight, Reshape(scale, filters)), shift, c.window, c.groups);
}

}  // namespace tg::frontend
