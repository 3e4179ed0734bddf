#include "frontend/onnx/attention.h"

#include <cmath>
#include <vector>

#include "absl/strings/str_cat.h"

namespace tg::onnx {

Value SplitHeads(GraphBuilder& g, Value x, int64_t heads) {
  if (!x) return nullptr;
  const Shape shape = g.ShapeOf(x);
  if (shape.size() != 3 || heads < 1 || shape[2].is_symbolic() || shape[2].value() % heads != 0) {
    return g.Fail(absl::StrCat(g.Describe(x), " in ", heads, " heads"));
  }
  const Dim size = shape[2].value() / heads;
  return g.Permute(g.Reshape(x, {shape[0], shape[1], Dim(heads), size}), {0, 2, 1, 3});
}

Value JoinHeads(GraphBuilder& g, Value x) {
  return x ? g.Flatten(g.Permute(x, {0, 2, 1, 3}), 2, 4) : nullptr;
}

Value RepeatHeads(GraphBuilder& g, Value x, Value queries) {
  if (!x || !queries) return nullptr;
  const Dim have = g.Extent(x, 1), wanted = g.Extent(queries, 1);
  if (have == wanted) return x;
  if (have.is_symbolic() || wanted.is_symbolic() || have.value() < 1 ||
      wanted.value() % have.value() != 0) {
    return g.Fail(absl::StrCat("heads of ", g.Describe(x), " for queries ", g.Describe(queries)));
  }
  return g.RepeatInterleave(x, 1, wanted.value() / have.value());
}

std::optional<double> AttentionScale(NodeContext& c, Value queries) {
  const double given = c.Float("scale", 0);
  if (given != 0 || !queries) return given;
  const Dim size = c.g.Extent(queries, static_cast<int64_t>(c.g.Rank(queries)) - 1);
  if (size.is_symbolic() || size.value() < 1) {
    c.Fail("heads of a symbolic size: " + c.g.Describe(queries));
    return std::nullopt;
  }
  return 1 / std::sqrt(static_cast<double>(size.value()));
}

Value AttentionScores(GraphBuilder& g, Value q, Value k, double scale) {
  if (scale < 0) return g.Fail("a negative scale");
  const Value root = g.Like(q, std::sqrt(scale));
  return g.MatMul(g.Mul(q, root), g.SwapAxes(g.Mul(k, root), -1, -2));
}

Value VisibleKeys(GraphBuilder& g, const Visibility& v) {
  const Value key = g.Arange(Scalar::kI32, v.keys);
  Value visible = nullptr;
  const auto also = [&](Value x) { visible = visible ? g.And(visible, x) : x; };
  if (v.left >= 0 || v.right >= 0) {
    Value position = g.Unsqueeze(g.Arange(Scalar::kI32, v.queries), 1);
    if (v.offset) position = g.Add(position, v.offset);
    if (v.left >= 0) also(g.Le(g.Sub(position, g.ConstInt(Scalar::kI32, v.left)), key));
    if (v.right >= 0) also(g.Le(key, g.Add(position, g.ConstInt(Scalar::kI32, v.right))));
  }
  if (v.valid_keys) also(g.Lt(key, v.valid_keys));
  return visible;
}

Value MaskBias(GraphBuilder& g, Value allowed, Scalar type, double hidden) {
  return allowed ? g.Where(allowed, g.Const(type, 0), g.Const(type, hidden)) : nullptr;
}

Value AttentionSoftmax(GraphBuilder& g, Value x, Value sink) {
  if (!x) return nullptr;
  Value most = g.Reduce(Op::kMax, x, {-1}, true);
  if (sink) most = g.Max(most, sink);
  most = g.Detach(most);
  const Value e = g.Exp(g.Sub(x, most));
  Value sum = g.Sum(e, {-1}, true);
  if (sink) sum = g.Add(sum, g.Exp(g.Sub(sink, most)));
  // The sum is at least 1. In f16 a reciprocal would be rounded too coarsely.
  return x->dtype.scalar() == Scalar::kF32 ? g.Mul(e, g.Recip(sum)) : g.Div(e, sum);
}

Value ClearMaskedRows(GraphBuilder& g, Value probabilities, Value scores) {
  if (!probabilities || !scores) return nullptr;
  const Value hidden = g.Like(scores, -std::numeric_limits<double>::infinity());
  const Value none = g.Eq(g.Reduce(Op::kMax, scores, {-1}, true), hidden);
  return g.Where(none, g.Like(probabilities, 0), probabilities);
}

}  // namespace tg::onnx
