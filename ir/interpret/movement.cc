// Movement ops as plain loops over coordinates.
#include <algorithm>
#include <numeric>

#include "absl/strings/str_cat.h"
#include "ir/interpret/host_buffer.h"
#include "ir/interpret/tensor_ops.h"

namespace tg {
namespace {

absl::Status Bad(std::string message) { return absl::InvalidArgumentError(std::move(message)); }

// The elements of a tensor that can be interpreted as a whole.
constexpr int64_t kMaxElements = int64_t{1} << 32;
// The elements of a result that an index map may have, of which a reader may compute a few.
constexpr int64_t kMaxMapped = int64_t{1} << 48;

absl::Status CheckSize(const Extents& shape, int64_t max_elements) {
  int64_t n = 1;
  for (int64_t d : shape) {
    if (d < 0) return Bad(absl::StrCat("negative extent in ", ShapeText(shape)));
    if (__builtin_mul_overflow(n, d, &n) || n > max_elements) {
      return Bad(absl::StrCat(ShapeText(shape), " has too many elements to be interpreted"));
    }
  }
  return absl::OkStatus();
}

// a + b * c modulo 2^64. An address that wrapped is out of bounds, which is checked where it is
// used.
int64_t WrappingMulAdd(int64_t a, int64_t b, int64_t c) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) +
                              static_cast<uint64_t>(b) * static_cast<uint64_t>(c));
}

Extents RowMajor(const Extents& shape) {
  Extents strides(shape.size());
  int64_t stride = 1;
  for (size_t i = shape.size(); i-- > 0;) {
    strides[i] = stride;
    stride *= shape[i];
  }
  return strides;
}

// Calls f(coordinates) for every element of `shape` in row-major order.
template <typename F>
void ForEachElement(const Extents& shape, F&& f) {
  Extents at(shape.size());
  for (int64_t n = NumElements(shape); n > 0; --n) {
    f(at);
    for (size_t i = shape.size(); i-- > 0;) {
      if (++at[i] < shape[i]) break;
      at[i] = 0;
    }
  }
}

absl::StatusOr<IndexMap> Affine(const Extents& from, Extents to, std::vector<size_t> source_axis,
                                Extents step, Extents origin) {
  if (absl::Status s = CheckSize(to, kMaxMapped); !s.ok()) return s;
  IndexMap map;
  map.shape = std::move(to);
  map.from = from;
  map.axis = std::move(source_axis);
  map.step = std::move(step);
  map.origin = std::move(origin);
  return map;
}

// Finds the source elements of consecutive elements of a movement op's result. Fast if an element
// follows the previous one, or is the same.
class Cursor {
 public:
  explicit Cursor(const IndexMap& map)
      : map_(map), strides_(RowMajor(map.from)), at_(map.shape.size()) {}

  int64_t At(int64_t flat) {
    if (map_.is_identity) return flat;
    if (!map_.listed.empty()) return map_.listed[static_cast<size_t>(flat)];
    if (flat == last_) return source_;
    if (flat == last_ + 1 && last_ >= 0) {
      for (size_t i = at_.size(); i-- > 0;) {
        if (++at_[i] < map_.shape[i]) break;
        at_[i] = 0;
      }
    } else {
      for (size_t i = at_.size(), rest = static_cast<size_t>(flat); i-- > 0;) {
        at_[i] = static_cast<int64_t>(rest % static_cast<size_t>(map_.shape[i]));
        rest /= static_cast<size_t>(map_.shape[i]);
      }
    }
    last_ = flat;
    source_ = 0;
    for (size_t i = 0; i < at_.size(); ++i) {
      const size_t a = map_.axis[i];
      const int64_t c = map_.origin[i] + map_.step[i] * at_[i];
      if (c < 0 || c >= map_.from[a]) return source_ = -1;
      source_ += c * strides_[a];
    }
    return source_;
  }

 private:
  const IndexMap& map_;
  const Extents strides_;
  Extents at_;
  int64_t last_ = -1, source_ = 0;
};

// One view of a `view` op: its words, with symbols filled in.
struct ConcreteView {
  Extents shape, strides, begin, end;
  int64_t offset = 0;
};

absl::StatusOr<std::vector<ConcreteView>> DecodeViews(const UOp* u,
                                                      std::span<const int64_t> symbols) {
  const auto words = u->list();
  size_t at = 0, next = 0;
  bool short_of = false;
  const auto raw = [&]() -> int64_t {
    if (at >= words.size()) {
      short_of = true;
      return 0;
    }
    return words[at++];
  };
  const auto number = [&]() -> int64_t {
    const int64_t w = raw();
    if (w != kSymbolic) return w;
    if (next < symbols.size()) return symbols[next++];
    short_of = true;
    return 0;
  };
  std::vector<ConcreteView> views;
  while (at < words.size() && !short_of) {
    ConcreteView& v = views.emplace_back();
    const int64_t rank = raw();
    if (rank < 0 || rank > static_cast<int64_t>(words.size())) return Bad("malformed view");
    for (int64_t i = 0; i < rank; ++i) v.shape.push_back(number());
    for (int64_t i = 0; i < rank; ++i) v.strides.push_back(number());
    v.offset = number();
    if (raw() != 0) {
      for (int64_t i = 0; i < rank; ++i) {
        v.begin.push_back(number());
        v.end.push_back(number());
      }
    } else {
      v.begin.assign(v.shape.size(), 0);
      v.end = v.shape;
    }
  }
  if (short_of || views.empty()) return Bad("malformed view");
  return views;
}

absl::StatusOr<IndexMap> View(const UOp* u, const Extents& from, std::span<const int64_t> symbols) {
  auto views = DecodeViews(u, symbols);
  if (!views.ok()) return views.status();
  for (const ConcreteView& v : *views) {
    if (absl::Status s = CheckExtents(v.shape); !s.ok()) return s;
  }
  IndexMap m;
  m.shape = views->back().shape;
  m.from = from;
  absl::Status status = CheckExtents(m.shape);
  if (!status.ok()) return status;
  const int64_t source_size = NumElements(from);
  ForEachElement(m.shape, [&](const Extents& logical) {
    Extents at = logical;
    bool valid = true;
    int64_t flat = 0;
    for (size_t k = views->size(); k-- > 0;) {
      const ConcreteView& v = (*views)[k];
      if (k + 1 < views->size()) {
        // What the later view addresses is this one's row-major number.
        const int64_t n = NumElements(v.shape);
        if (valid && (flat < 0 || flat >= n)) status = Bad("a view reads outside the one below");
        at.assign(v.shape.size(), 0);
        for (size_t i = v.shape.size(); i-- > 0 && n > 0;) {
          at[i] = ((flat % v.shape[i]) + v.shape[i]) % v.shape[i];
          flat = (flat - at[i]) / v.shape[i];
        }
      }
      flat = v.offset;
      for (size_t i = 0; i < at.size(); ++i) {
        valid &= at[i] >= v.begin[i] && at[i] < v.end[i];
        flat = WrappingMulAdd(flat, at[i], v.strides[i]);
      }
    }
    if (valid && (flat < 0 || flat >= source_size)) {
      status = Bad(absl::StrCat("a view reads element ", flat, " of ", source_size));
    }
    m.listed.push_back(valid ? flat : -1);
  });
  if (!status.ok()) return status;
  return m;
}

}  // namespace

absl::Status CheckExtents(const Extents& shape) { return CheckSize(shape, kMaxElements); }

void IndexMap::Range(int64_t first, size_t n, int64_t* out) const {
  if (is_identity) return std::iota(out, out + n, first);
  Cursor cursor(*this);
  for (size_t i = 0; i < n; ++i) out[i] = cursor.At(first + static_cast<int64_t>(i));
}

void IndexMap::At(std::span<const int64_t> at, int64_t* out) const {
  Cursor cursor(*this);
  for (size_t i = 0; i < at.size(); ++i) out[i] = cursor.At(at[i]);
}

Movement MovementOf(const IndexMap& map) {
  Movement m{map.shape, std::vector<int64_t>(static_cast<size_t>(NumElements(map.shape)))};
  map.Range(0, m.map.size(), m.map.data());
  return m;
}

namespace {

// Repeats the axes of size 1.
absl::StatusOr<IndexMap> Expanded(const Extents& from, const Extents& to) {
  const size_t rank = from.size();
  std::vector<size_t> axis(rank);
  std::iota(axis.begin(), axis.end(), size_t{0});
  Extents step(rank, 1);
  for (size_t i = 0; i < rank; ++i) {
    if (to[i] == from[i]) continue;
    if (from[i] != 1 || to[i] < 0) {
      return Bad(absl::StrCat("cannot expand ", ShapeText(from), " to ", ShapeText(to)));
    }
    step[i] = 0;
  }
  if (absl::Status s = CheckSize(to, kMaxMapped); !s.ok()) return s;
  return Affine(from, to, axis, step, Extents(rank, 0));
}

}  // namespace

absl::StatusOr<Movement> MovementOf(const UOp* u, const Extents& from,
                                    std::span<const int64_t> symbols) {
  auto map = IndexMapOf(u, from, symbols);
  if (!map.ok()) return map.status();
  if (absl::Status s = CheckExtents(map->shape); !s.ok()) return s;
  return MovementOf(*map);
}

absl::StatusOr<IndexMap> IndexMapOf(const UOp* u, const Extents& from,
                                    std::span<const int64_t> symbols) {
  const size_t rank = from.size();
  std::vector<size_t> axis(rank);
  std::iota(axis.begin(), axis.end(), size_t{0});
  Extents step(rank, 1), origin(rank, 0);
  if (u->op == Op::kView) return View(u, from, symbols);
  Extents items;  // the attribute with symbols filled in
  size_t next = 0;
  for (int64_t w : u->words().subspan(1)) {
    if (w == kSymbolic) {
      if (next == symbols.size()) return Bad("a symbolic entry without a source");
      w = symbols[next++];
    }
    items.push_back(w);
  }
  switch (u->op) {
    case Op::kReshape: {
      for (int64_t d : items) {
        if (d < 0) return Bad("reshape to a negative extent");
      }
      if (absl::Status s = CheckSize(items, kMaxMapped); !s.ok()) return s;
      if (NumElements(items) != NumElements(from)) {
        return Bad(absl::StrCat("cannot reshape ", ShapeText(from), " to ", ShapeText(items)));
      }
      IndexMap m;
      m.shape = items;
      m.from = from;
      m.is_identity = true;
      return m;
    }
    case Op::kBroadcast: {
      // As the expand of a reshape that puts axes of size 1 in front.
      if (items.size() < rank) {
        return Bad(absl::StrCat("cannot broadcast ", ShapeText(from), " to ", ShapeText(items)));
      }
      Extents aligned(items.size() - rank, 1);
      aligned.insert(aligned.end(), from.begin(), from.end());
      return Expanded(aligned, items);
    }
    case Op::kExpand:
      if (items.size() != rank) return Bad("expand cannot change the rank");
      return Expanded(from, items);
    case Op::kPermute: {
      std::vector<bool> used(rank);
      if (items.size() != rank) return Bad("axes is not a permutation of the axes");
      Extents to;
      for (size_t i = 0; i < rank; ++i) {
        if (items[i] < 0 || items[i] >= static_cast<int64_t>(rank) ||
            used[static_cast<size_t>(items[i])]) {
          return Bad("axes is not a permutation of the axes");
        }
        axis[i] = static_cast<size_t>(items[i]);
        used[axis[i]] = true;
        to.push_back(from[axis[i]]);
      }
      return Affine(from, to, axis, step, origin);
    }
    case Op::kFlip:
      for (int64_t a : items) {
        if (a < 0 || a >= static_cast<int64_t>(rank)) return Bad("flip of an axis that is not");
        step[static_cast<size_t>(a)] = -1;
        origin[static_cast<size_t>(a)] = from[static_cast<size_t>(a)] - 1;
      }
      return Affine(from, from, axis, step, origin);
    case Op::kPad:
    case Op::kShrink: {
      if (items.size() != 2 * rank) return Bad("needs one pair an axis");
      Extents to;
      for (size_t i = 0; i < rank; ++i) {
        const int64_t a = items[2 * i], b = items[2 * i + 1];
        if (u->op == Op::kPad) {
          if (a < 0 || b < 0) return Bad("pad by a negative amount");
          if (a > kMaxMapped || b > kMaxMapped) return Bad("pads too much to be interpreted");
          origin[i] = -a;
          to.push_back(a + from[i] + b);
        } else {
          if (a < 0 || b < a || b > from[i]) {
            return Bad(
                absl::StrCat("[", a, ", ", b, ") is not inside axis ", i, " of ", ShapeText(from)));
          }
          origin[i] = a;
          to.push_back(b - a);
        }
      }
      if (absl::Status s = CheckSize(to, kMaxMapped); !s.ok()) return s;
      return Affine(from, to, axis, step, origin);
    }
    default:
      return Bad("not a movement op");
  }
}

}  // namespace tg
