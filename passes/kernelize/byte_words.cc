#include "passes/kernelize/byte_words.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/arithmetic.h"
#include "llvm/ADT/STLExtras.h"
#include "passes/analysis/indexing.h"

namespace tg::kernelize {
namespace {

// The axis of movement op `u`'s source that is `axis` of its result, or its innermost part, or of
// which it is the innermost part.
std::optional<size_t> AxisBelow(ShapeMap& shapes, const UOp* u, size_t axis, bool& splits) {
  const Shape &from = shapes.Of(u->src(0)), &to = shapes.Of(u);
  switch (u->op) {
    case Op::kPermute:
      return static_cast<size_t>(u->list()[axis]);
    case Op::kExpand:
      return from[axis] == to[axis] ? std::optional(axis) : std::nullopt;
    case Op::kReshape:
      for (const analysis::ReshapeGroup& g : analysis::GroupReshape(from, to)) {
        if (axis < g.to_begin || axis >= g.to_end) continue;
        if (g.same) return g.from_begin;
        const auto innermost = [](const Shape& shape, size_t begin, size_t end) {
          while (end > begin && shape[end - 1].Is(1)) --end;
          return end - begin > 0 ? std::optional(end - 1) : std::nullopt;
        };
        const auto inner = innermost(from, g.from_begin, g.from_end);
        if (innermost(to, g.to_begin, g.to_end) != axis || !inner) return std::nullopt;
        if (from[*inner].is_symbolic() || to[axis].is_symbolic()) return std::nullopt;
        splits |= from[*inner] != to[axis];
        return inner;
      }
      return std::nullopt;
    case Op::kFlip:
      return llvm::is_contained(u->list(), static_cast<int64_t>(axis)) ? std::nullopt
                                                                       : std::optional(axis);
    case Op::kPad: {
      const auto [before, after] = PairsOf(u)[axis];
      return before.Is(0) && after.Is(0) ? std::optional(axis) : std::nullopt;
    }
    case Op::kShrink: {
      const auto [begin, end] = PairsOf(u)[axis];
      return begin.Is(0) && end == from[axis] ? std::optional(axis) : std::nullopt;
    }
    default:
      return std::nullopt;
  }
}

}  // namespace

double ByteWords::Elements(const Shape& shape) {
  double n = 1;
  for (const Dim& d : shape) n *= d.is_symbolic() ? 1 : static_cast<double>(d.value());
  return n;
}

bool ByteWords::Find(const ByteFactor& factor, size_t axis, const Shape& shape, WordPlace& place) {
  place.axes = {axis};
  const bool is_whole = shape[axis].value() % 4 == 0;
  for (const UOp* u : factor.movement) {
    bool splits = place.splits;
    const auto below = AxisBelow(shapes_, u, place.axes.back(), splits);
    if (!below || (splits && !is_whole)) break;
    const Dim& extent = shapes_.Of(u->src(0))[*below];
    if (extent.is_symbolic() || (splits && extent.value() % 4 != 0)) break;
    // Where zeros are added, the bytes are the zero point.
    if (u->op == Op::kPad && factor.zero) break;
    place.splits = splits;
    place.axes.push_back(*below);
  }
  place.above = place.axes.size() - 1;
  const Shape& words =
      place.above == 0 ? shape : shapes_.Of(factor.movement[place.above - 1]->src(0));
  return Elements(words) <= 2 * Elements(shapes_.Of(factor.bytes));
}

const UOp* ByteWords::Make(const ByteFactor& factor, const WordPlace& place) {
  const UOpSpan movement(factor.movement);
  const UOp* x = factor.bytes;
  // The factor is 0 where zeros are added below: the byte is the zero point there.
  const bool below_pads = llvm::any_of(movement.subspan(place.above), [](const UOp* u) {
    return u->op == Op::kPad || u->op == Op::kView;
  });
  if (factor.zero && below_pads) {
    const UOp* zero = b_.Cast(factor.zero, x->dtype);
    x = b_.Add(Moved(b_.context(), movement.subspan(place.above), b_.Sub(x, zero)), zero);
  } else {
    x = Moved(b_.context(), movement.subspan(place.above), x);
  }
  x = Packed(x, place.axes.back());
  for (size_t i = place.above; i-- > 0;) {
    x = MovedWords(movement[i], x, place.axes[i + 1], place.axes[i]);
  }
  return x;
}

const UOp* ByteWords::Packed(const UOp* x, size_t axis) {
  Shape shape = shapes_.Of(x);
  const int64_t extent = shape[axis].value(), whole = RoundUp(extent, 4);
  if (whole != extent) {
    std::vector<std::pair<Dim, Dim>> widths(shape.size());
    widths[axis].second = whole - extent;
    x = b_.Pad(x, widths);
  }
  if (x->dtype.scalar() != Scalar::kU8) x = b_.Bitcast(x, Scalar::kU8);
  Shape wide = shape;
  wide[axis] = whole / 4;
  const Shape words = wide;
  wide.insert(wide.begin() + static_cast<ptrdiff_t>(axis) + 1, 4);
  x = b_.Reshape(x, wide);
  const UOp* word = nullptr;
  for (int64_t i = 0; i < 4; ++i) {
    std::vector<std::pair<Dim, Dim>> ranges;
    for (size_t a = 0; a < wide.size(); ++a) {
      ranges.emplace_back(a == axis + 1 ? Dim(i) : Dim(0), a == axis + 1 ? Dim(i + 1) : wide[a]);
    }
    const UOp* byte = b_.Cast(b_.Reshape(b_.Shrink(x, ranges), words), kI32);
    if (i > 0) byte = b_.Alu(Op::kShl, {byte, b_.ConstInt(kI32, 8 * i)});
    word = word ? b_.Alu(Op::kOr, {word, byte}) : byte;
  }
  return word;
}

const UOp* ByteWords::MovedWords(const UOp* u, const UOp* x, size_t from, size_t to) {
  Shape shape = shapes_.Of(u);
  shape[to] = CeilDiv(shape[to].value(), 4);
  switch (u->op) {
    case Op::kReshape:
      return b_.Reshape(x, shape);
    case Op::kExpand:
      return b_.Expand(x, shape);
    case Op::kShrink: {
      std::vector<std::pair<Dim, Dim>> ranges = PairsOf(u);
      ranges[from] = {0, shape[to]};
      return b_.Shrink(x, ranges);
    }
    default:
      return Moved(b_.context(), u, x);
  }
}

}  // namespace tg::kernelize
