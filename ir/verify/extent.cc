#include "ir/verify/extent.h"

#include <algorithm>
#include <functional>
#include <map>

namespace tg::verify {

std::optional<int64_t> CountElements(std::span<const int64_t> extents) {
  constexpr int64_t kLimit = int64_t{1} << 62;
  int64_t n = 1;
  bool empty = false;
  for (int64_t e : extents) {
    if (e < 0) return std::nullopt;
    empty |= e == 0;
    if (__builtin_mul_overflow(n, std::max<int64_t>(e, 1), &n) || n >= kLimit) return std::nullopt;
  }
  return empty ? 0 : n;
}

View ContiguousView(std::span<const int64_t> shape) {
  View v;
  v.shape.assign(shape.begin(), shape.end());
  v.strides.resize(shape.size());
  int64_t stride = 1;
  for (size_t i = shape.size(); i-- > 0;) {
    v.strides[i] = stride;
    stride *= std::max<int64_t>(shape[i], 1);
  }
  return v;
}

bool IsContiguous(const View& v) {
  int64_t stride = 1;
  for (size_t i = v.shape.size(); i-- > 0;) {
    if (v.shape[i] != 1 && v.strides[i] != stride) return false;
    stride *= v.shape[i];
  }
  return v.mask.empty();
}

std::optional<std::vector<View>> StaticViewsOf(const UOp* u) {
  const auto words = u->list();
  if (std::find(words.begin(), words.end(), kSymbolic) != words.end()) return std::nullopt;
  std::vector<View> out;
  for (size_t at = 0; at < words.size();) {
    View& v = out.emplace_back();
    const auto rank = static_cast<size_t>(words[at++]);
    const auto take = [&] { return words[at++]; };
    for (size_t i = 0; i < rank; ++i) v.shape.push_back(take());
    for (size_t i = 0; i < rank; ++i) v.strides.push_back(take());
    v.offset = take();
    if (!take()) continue;
    for (size_t i = 0; i < rank; ++i) {
      const int64_t begin = take();
      v.mask.emplace_back(begin, take());
    }
  }
  return out;
}

std::optional<std::pair<int64_t, int64_t>> OffsetsOf(const View& v) {
  int64_t least = v.offset, greatest = v.offset;
  for (size_t i = 0; i < v.shape.size(); ++i) {
    const int64_t begin = v.mask.empty() ? 0 : v.mask[i].first;
    const int64_t end = v.mask.empty() ? v.shape[i] : v.mask[i].second;
    if (begin >= end) return std::nullopt;
    int64_t first = 0, last = 0;
    if (__builtin_mul_overflow(begin, v.strides[i], &first) ||
        __builtin_mul_overflow(end - 1, v.strides[i], &last) ||
        __builtin_add_overflow(least, std::min(first, last), &least) ||
        __builtin_add_overflow(greatest, std::max(first, last), &greatest)) {
      return std::nullopt;
    }
  }
  return std::pair(least, greatest);
}

namespace {

// Only axes of size 1 come and go, or the view is contiguous.
std::optional<View> Reshape(const View& v, std::span<const int64_t> to) {
  if (IsContiguous(v)) {
    View out = ContiguousView(to);
    out.offset = v.offset;
    return out;
  }
  View out;
  out.offset = v.offset;
  size_t from = 0;
  for (int64_t extent : to) {
    out.shape.push_back(extent);
    out.strides.push_back(0);
    if (extent == 1) continue;
    while (from < v.shape.size() && v.shape[from] == 1) ++from;
    if (from == v.shape.size() || v.shape[from] != extent) return std::nullopt;
    out.strides.back() = v.strides[from++];
  }
  while (from < v.shape.size() && v.shape[from] == 1) ++from;
  if (from != v.shape.size()) return std::nullopt;
  return out;
}

}  // namespace

std::optional<View> ThroughMovement(const View& v, const UOp* op) {
  if (!v.mask.empty()) return std::nullopt;
  View out;
  out.offset = v.offset;
  switch (op->op) {
    case Op::kReshape: {
      std::vector<int64_t> to;
      for (const Dim& d : DimsOf(op)) {
        if (d.is_symbolic()) return std::nullopt;
        to.push_back(d.value());
      }
      return Reshape(v, to);
    }
    case Op::kPermute:
      for (int64_t axis : op->list()) {
        out.shape.push_back(v.shape[static_cast<size_t>(axis)]);
        out.strides.push_back(v.strides[static_cast<size_t>(axis)]);
      }
      return out;
    case Op::kFlip:
      out = v;
      for (int64_t word : op->list()) {
        const auto axis = static_cast<size_t>(word);
        out.offset += (v.shape[axis] - 1) * v.strides[axis];
        out.strides[axis] = -v.strides[axis];
      }
      return out;
    case Op::kShrink: {
      out = v;
      const auto pairs = PairsOf(op);
      for (size_t i = 0; i < pairs.size(); ++i) {
        if (pairs[i].first.is_symbolic() || pairs[i].second.is_symbolic()) return std::nullopt;
        out.offset += pairs[i].first.value() * v.strides[i];
        out.shape[i] = pairs[i].second.value() - pairs[i].first.value();
      }
      return out;
    }
    case Op::kBufferView:
      if (!IsContiguous(v)) return std::nullopt;
      out.offset += op->word(0);
      out.shape = {op->word(1)};
      out.strides = {1};
      return out;
    case Op::kView: {
      const auto views = StaticViewsOf(op);
      if (!views || views->size() != 1 || !IsContiguous(v)) return std::nullopt;
      out = views->front();
      out.offset += v.offset;
      if (!out.mask.empty()) return std::nullopt;
      return out;
    }
    default:
      return std::nullopt;
  }
}

namespace {

// Extents by stride, the greatest stride first. Axes of size 1 are dropped, and axes with negative
// strides are reversed. nullopt if two axes have the same stride.
using Axes = std::map<int64_t, int64_t, std::greater<>>;
std::optional<Axes> AxesOf(const View& v, int64_t* offset) {
  Axes axes;
  *offset = v.offset;
  for (size_t i = 0; i < v.shape.size(); ++i) {
    if (v.shape[i] == 1) continue;
    int64_t stride = v.strides[i];
    if (stride < 0) {
      *offset += (v.shape[i] - 1) * stride;
      stride = -stride;
    }
    if (stride == 0 || !axes.emplace(stride, v.shape[i]).second) return std::nullopt;
  }
  return axes;
}

// Whether an end of `b` lies in the interval `a` of consecutive elements.
bool EndsInside(const View& a, const std::pair<int64_t, int64_t>& range_a,
                const std::pair<int64_t, int64_t>& range_b) {
  if (!IsContiguous(a)) return false;
  const auto inside = [&](int64_t x) { return range_a.first <= x && x <= range_a.second; };
  return inside(range_b.first) || inside(range_b.second);
}

}  // namespace

bool SurelyOverlap(const View& a, const View& b) {
  const auto range_a = OffsetsOf(a), range_b = OffsetsOf(b);
  if (!range_a || !range_b) return false;
  if (range_a->second < range_b->first || range_b->second < range_a->first) return false;
  if (EndsInside(a, *range_a, *range_b) || EndsInside(b, *range_b, *range_a)) return true;
  // Both as boxes over one row-major array, whose axes have all the strides of either.
  int64_t offset_a = 0, offset_b = 0;
  const auto axes_a = AxesOf(a, &offset_a), axes_b = AxesOf(b, &offset_b);
  if (!axes_a || !axes_b || offset_a < 0 || offset_b < 0) return false;
  Axes all = *axes_a;
  all.insert(axes_b->begin(), axes_b->end());
  int64_t outer = 0;  // the stride outside of the axis; 0: there is none
  for (const auto& [stride, unused] : all) {
    if (outer && outer % stride != 0) return false;
    const auto extent = [s = stride](const Axes& axes) {
      const auto it = axes.find(s);
      return it == axes.end() ? int64_t{1} : it->second;
    };
    const int64_t from_a = offset_a / stride, to_a = from_a + extent(*axes_a);
    const int64_t from_b = offset_b / stride, to_b = from_b + extent(*axes_b);
    // Where an axis runs over its end into the next, this is no box.
    if (outer && (to_a > outer / stride || to_b > outer / stride)) return false;
    if (to_a <= from_b || to_b <= from_a) return false;
    offset_a %= stride;
    offset_b %= stride;
    outer = stride;
  }
  return offset_a == offset_b;
}

}  // namespace tg::verify
