// Translator: BITCAST between types of different sizes. The first element holds the lowest bits.
#include <algorithm>
#include <utility>
#include <vector>

#include "frontend/tinygrad/translator.h"

namespace tg::tinygrad {
const UOp* Translator::BitcastResized(const Node& n, const UOp* x, DType t) {
  const int from = BitWidth(x->dtype.scalar()), to = BitWidth(t.scalar());
  const std::string types = "from " + x->dtype.ToString() + " to " + t.ToString();
  if (!has_shapes_) return Fail(n, types + ", which is of another size");
  Shape shape = ShapeOf(x);
  const int64_t count = std::max(from, to) / std::min(from, to);
  if (shape.empty() || shape.back().is_symbolic() ||
      (from < to && shape.back().value() % count != 0)) {
    return Fail(n, types + ": the last axis does not divide by " + std::to_string(count));
  }
  const DType source(BitsType(x->dtype.scalar())), result(BitsType(t.scalar()));
  const DType wide = from < to ? result : source;
  const auto as = [&](const UOp* u, DType type) {
    return !u || u->dtype == type ? u : Emit(n, Op::kBitcast, type, {u});
  };
  x = as(x, source);
  const auto shifted = [&](Op op, const UOp* word, int64_t place) -> const UOp* {
    if (!word || place == 0) return word;
    Nodes srcs{word, b_.ConstInt(wide, place * std::min(from, to))};
    return Broadcast(n, srcs) ? Emit(n, op, wide, {srcs[0], srcs[1]}) : nullptr;
  };
  // The narrow elements of each wide one lie along a new innermost axis.
  const size_t axis = shape.size();
  Shape split_shape = shape;
  if (from < to) {
    split_shape.back() = Dim(shape.back().value() / count);
    shape.back() = split_shape.back();
  } else {
    shape.back() = Dim(shape.back().value() * count);
  }
  split_shape.push_back(Dim(from < to ? count : 1));
  x = x ? EmitReshape(n, x, split_shape) : nullptr;
  const UOp* sum = nullptr;
  for (int64_t i = 0; x && i < count; ++i) {
    std::vector<std::pair<Dim, Dim>> pairs;
    for (const Dim& d : split_shape) pairs.emplace_back(Dim(0), d);
    const UOp* part = x;
    if (from < to) {
      pairs[axis] = {Dim(i), Dim(i + 1)};
      part = shifted(Op::kShl, Emit(n, Op::kCast, wide, {EmitPairs(n, Op::kShrink, x, pairs)}), i);
    } else {
      part = Emit(n, Op::kCast, result, {shifted(Op::kShr, x, i)});
      pairs[axis] = {Dim(i), Dim(count - 1 - i)};
      for (size_t k = 0; k < axis; ++k) pairs[k] = {Dim(0), Dim(0)};
      part = part ? EmitPairs(n, Op::kPad, part, pairs) : nullptr;
    }
    sum = sum ? Emit(n, Op::kOr, result, {sum, part}) : part;
    if (!sum) return nullptr;
  }
  return sum ? as(EmitReshape(n, sum, shape), t) : nullptr;
}

}  // namespace tg::tinygrad
