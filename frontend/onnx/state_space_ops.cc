// Layers that carry a state from one call to the next.
#include <cmath>
#include <string>

#include "absl/strings/str_cat.h"
#include "frontend/onnx/attention.h"

namespace tg::onnx {
namespace {

void LinearAttention(NodeContext& c) {
  GraphBuilder& g = c.g;
  const std::string_view rule = c.String("update_rule", "gated_delta");
  const bool decays = rule == "gated" || rule == "gated_delta";
  const bool corrects = rule == "delta" || rule == "gated_delta";
  if (!decays && !corrects && rule != "linear") {
    c.Fail("the update rule '" + std::string(rule) + "'");
    return;
  }
  if (decays != c.Has(4) || corrects != c.Has(5)) {
    c.Fail("the update rule '" + std::string(rule) + "' wants other inputs");
    return;
  }
  if (c.Int("state_window", 0)) {
    c.Fail("a state_window is not read");
    return;
  }
  const int64_t heads = c.Int("q_num_heads", 0), kv_heads = c.Int("kv_num_heads", 0);
  const auto wide = [&](size_t i, int64_t n) {
    return SplitHeads(g, g.Cast(c.In(i), Scalar::kF32), n);
  };
  const Value q = wide(0, heads), k = wide(1, kv_heads), v = wide(2, kv_heads);
  if (!q || !k || !v) return;
  const Dim batch = g.Extent(q, 0), length = g.Extent(q, 2), size = g.Extent(k, 3);
  if (length.is_symbolic() || length.value() > kMaxUnrolledIterations) {
    c.Fail(absl::StrCat("a sequence of more than ", kMaxUnrolledIterations,
                        " steps, or of a symbolic length"));
    return;
  }
  const auto scale = AttentionScale(c, q);
  if (!scale) return;
  // A decay is a factor of a head and step, or of each of the key's elements.
  Value decay = nullptr, beta = nullptr;
  if (decays) decay = g.Exp(wide(4, kv_heads));
  if (corrects) beta = wide(5, g.Extent(c.In(5), 2).Is(1) ? 1 : kv_heads);
  Value state =
      c.Has(3) ? g.Cast(c.In(3), Scalar::kF32)
               : g.Full({batch, Dim(kv_heads), size, g.Extent(v, 3)}, g.Const(Scalar::kF32, 0));
  const Scalar state_type = (c.Has(3) ? c.In(3) : c.In(0))->dtype.scalar();
  std::vector<Value> outputs;
  for (int64_t t = 0; t < length.value() && g.ok(); ++t) {
    const auto at = [&](Value x) { return g.Slice(x, 2, t, t + 1); };  // [batch, heads, 1, ...]
    const Value key = g.SwapAxes(at(k), 2, 3);                         // a column
    if (decays) state = g.Mul(state, g.SwapAxes(at(decay), 2, 3));
    Value value = at(v);
    if (corrects) {
      const Value found = g.Sum(g.Mul(state, key), {2}, true);
      value = g.Mul(at(beta), g.Sub(value, found));
    }
    // Stored, so that a step does not compute the states of all steps before it.
    state = g.Stored(g.Add(state, g.Mul(key, value)));
    outputs.push_back(g.MatMul(at(q), RepeatHeads(g, state, q)));
  }
  const Value y = g.Concat(outputs, 2);
  c.Return(g.Cast(JoinHeads(g, g.Mul(y, g.Like(y, *scale))), c.In(0)->dtype.scalar()));
  c.Return(g.Cast(state, state_type), 1);
}

void CausalConvWithState(NodeContext& c) {
  GraphBuilder& g = c.g;
  Value x = c.In(0);
  const Value weight = c.In(1);
  if (!x || !weight) return;
  for (const char* name : {"state_window", "state_update_capacity", "state_length", "channels_last",
                           "input_channel_offset", "input_channels"}) {
    if (c.Int(name, 0) != 0) {
      c.Fail(absl::StrCat("the attribute ", name, " is not read"));
      return;
    }
  }
  if (g.Rank(x) != 3 || g.Rank(weight) != 3 || g.Extent(weight, 2).is_symbolic() ||
      g.Extent(x, 1).is_symbolic()) {
    c.Fail(absl::StrCat("a causal convolution of ", g.Describe(x), " with ", g.Describe(weight)));
    return;
  }
  const Scalar type = x->dtype.scalar();
  const int64_t kernel = g.Extent(weight, 2).value(), dilation = c.Int("dilation", 1);
  const int64_t carried = (kernel - 1) * dilation;
  Value past = c.Optional(3);
  if (!past) past = g.Full({g.Extent(x, 0), g.Extent(x, 1), Dim(carried)}, g.Like(x, 0));
  const Value parts[] = {past, x};
  if (carried > 0) x = g.Concat(parts, 2);
  Value y = g.Conv(x, weight, c.Optional(2), {{kernel}, {1}, {dilation}, {0}, {0}},
                   g.Extent(x, 1).value());
  if (!y) return;
  const std::string_view activation = c.String("activation", "none");
  if (activation == "silu" || activation == "swish") {
    const Value w = g.Cast(y, BitWidth(type) < 32 ? Scalar::kF32 : type);
    y = g.Cast(g.Mul(w, g.Sigmoid(w)), type);
  } else if (activation != "none") {
    c.Fail("the activation '" + std::string(activation) + "'");
    return;
  }
  c.Return(y);
  const Dim length = g.Extent(x, 2);
  c.Return(g.Slice(x, 2, g.SubDim(length, Dim(carried)), length), 1);
}

constexpr Operator kStateSpaceOperators[] = {
    {"", "CausalConvWithState", 27, CausalConvWithState},
    {"", "LinearAttention", 27, LinearAttention},
    {"com.microsoft", "CausalConvWithState", 1, CausalConvWithState},
    {"com.microsoft", "LinearAttention", 1, LinearAttention},
};

}  // namespace

std::span<const Operator> StateSpaceOperators() { return kStateSpaceOperators; }

}  // namespace tg::onnx
