#include "frontend/common/attention.h"

#include "absl/strings/str_cat.h"

namespace tg::frontend {

Value SoftCap(GraphBuilder& g, Value x, double cap) {
  if (cap <= 0) return x;
  return g.Mul(g.Tanh(g.Div(x, g.Like(x, cap))), g.Like(x, cap));
}

Value RotatePairs(GraphBuilder& g, Value x, Value cosines, Value sines, bool interleaved) {
  if (!x || !cosines || !sines) return nullptr;
  const Dim half = g.Extent(cosines, static_cast<int64_t>(g.Rank(cosines)) - 1);
  const auto last = static_cast<int64_t>(g.Rank(x)) - 1;
  const Dim size = g.Extent(x, last);
  if (half.is_symbolic() || size.is_symbolic() || 2 * half.value() > size.value()) {
    return g.Fail(absl::StrCat("a rotation of ", g.Describe(x), " by ", g.Describe(cosines)));
  }
  const Value rotated = g.Slice(x, last, 0, 2 * half.value());
  // The pairs along an axis: [..., half, 2] or [..., 2, half].
  Shape paired = g.ShapeOf(rotated);
  paired.back() = interleaved ? half : Dim(2);
  paired.push_back(interleaved ? Dim(2) : half);
  const int64_t axis = interleaved ? last + 1 : last;
  const Value pairs = g.Reshape(rotated, paired);
  const Value a = g.Squeeze(g.Slice(pairs, axis, 0, 1), axis);
  const Value b = g.Squeeze(g.Slice(pairs, axis, 1, 2), axis);
  const Value parts[] = {g.Sub(g.Mul(cosines, a), g.Mul(sines, b)),
                         g.Add(g.Mul(sines, a), g.Mul(cosines, b))};
  Value y = g.Reshape(g.Stack(parts, axis), g.ShapeOf(rotated));
  if (2 * half.value() == size.value()) return y;
  const Value both[] = {y, g.Slice(x, last, 2 * half.value(), size)};
  return g.Concat(both, last);
}

}  // namespace tg::frontend
