// Attention of the standard's domains.
#include <cmath>
#include <string>

#include "absl/strings/str_cat.h"
#include "frontend/onnx/attention.h"
#include "frontend/onnx/onnx_tensors.h"

namespace tg::onnx {
namespace {

// The type that an attribute names, or `otherwise`.
std::optional<Scalar> Precision(NodeContext& c, Scalar otherwise) {
  const auto named = static_cast<ElementType>(c.Int("softmax_precision", 0));
  if (named == ElementType::kUndefined) return otherwise;
  const auto scalar = ScalarFor(named);
  if (scalar && IsFloat(*scalar)) return scalar;
  c.Fail("a softmax in " + std::string(TypeName(named)));
  return std::nullopt;
}

// The bias of the mask, causality, windows and padding: -infinity where a query must not see a key.
// Null if none of these restricts anything.
struct Bias {
  Value mask = nullptr, visible = nullptr;  // both are added
  bool may_exclude_all_keys = false;
};

Bias AttentionBias(NodeContext& c, Value q, Value k) {
  GraphBuilder& g = c.g;
  const Scalar type = q->dtype.scalar();
  Visibility v{g.Extent(q, 2), g.Extent(k, 2)};
  v.left = c.Int("left_window_size", -1);
  v.right = c.Int("right_window_size", -1);
  Bias bias;
  bias.may_exclude_all_keys = c.Has(3) || c.Has(6) || v.left >= 0 || v.right >= 0;
  if (c.Int("is_causal", 0)) v.right = 0;
  if (c.Has(4)) {
    v.offset = g.DimValue(Scalar::kI32, g.Extent(c.In(4), 2));
  } else if (c.Has(6)) {
    v.valid_keys =
        g.Reshape(g.Cast(c.In(6), Scalar::kI32), {g.Extent(q, 0), Dim(1), Dim(1), Dim(1)});
    v.offset = g.Sub(v.valid_keys, g.DimValue(Scalar::kI32, v.queries));
  }
  bias.visible = MaskBias(g, VisibleKeys(g, v), type);
  if (!c.Has(3)) return bias;
  Value mask = c.In(3);
  if (mask->dtype.is_bool()) mask = MaskBias(g, mask, type);
  mask = g.Cast(mask, type);
  // Keys beyond the end of a shorter mask are hidden.
  const auto last = static_cast<int64_t>(g.Rank(mask)) - 1;
  if (last < 0) {
    c.Fail("a mask that is a scalar");
    return bias;
  }
  const Dim told = g.Extent(mask, last);
  if (!told.is_symbolic() && !v.keys.is_symbolic() && told.value() < v.keys.value()) {
    std::vector<std::pair<Dim, Dim>> widths(g.Rank(mask), {0, 0});
    widths.back().second = v.keys.value() - told.value();
    mask = g.Pad(mask, widths, g.Const(type, -HUGE_VAL));
  }
  bias.mask = mask;
  return bias;
}

void Attention(NodeContext& c) {
  GraphBuilder& g = c.g;
  Value q = c.In(0), k = c.In(1), v = c.In(2);
  if (!q || !k || !v) return;
  if (c.Has(4) != c.Has(5) || (c.Has(4) && c.Has(6))) {
    c.Fail("past_key and past_value come together, and without nonpad_kv_seqlen");
    return;
  }
  const bool packed = g.Rank(q) == 3;
  if (packed) {
    const int64_t heads = c.Int("kv_num_heads", 0);
    q = SplitHeads(g, q, c.Int("q_num_heads", 0));
    k = SplitHeads(g, k, heads);
    v = SplitHeads(g, v, heads);
  }
  if (c.Has(4)) {
    const Value keys[] = {c.In(4), k}, values[] = {c.In(5), v};
    k = g.Concat(keys, 2);
    v = g.Concat(values, 2);
  }
  if (!g.ok()) return;
  if (g.Rank(q) != 4 || g.Rank(k) != 4 || g.Rank(v) != 4) {
    c.Fail(absl::StrCat("queries ", g.Describe(q), ", keys ", g.Describe(k), " and values ",
                        g.Describe(v)));
    return;
  }
  c.Return(k, 1);
  c.Return(v, 2);
  const auto scale = AttentionScale(c, q);
  const auto precision = Precision(c, q->dtype.scalar());
  if (!scale || !precision) return;
  const Value raw = AttentionScores(g, q, RepeatHeads(g, k, q), *scale);
  const Value capped = SoftCap(g, raw, c.Float("softcap", 0));
  const Bias bias = AttentionBias(c, q, k);
  // What is computed of indices comes last, where kernelize finds which keys no row sees.
  Value biased = bias.mask ? g.Add(capped, bias.mask) : capped;
  if (bias.visible) biased = g.Add(biased, bias.visible);
  const Value scores = g.Cast(biased, *precision);
  Value p = AttentionSoftmax(g, scores);
  if (bias.may_exclude_all_keys) p = ClearMaskedRows(g, p, scores);
  p = g.Cast(p, q->dtype.scalar());
  const Value stages[] = {raw, capped, biased, p};
  const int64_t stage = c.Int("qk_matmul_output_mode", 0);
  if (stage < 0 || stage > 3) {
    c.Fail(absl::StrCat("a qk_matmul_output_mode of ", stage));
    return;
  }
  c.Return(stages[stage], 3);
  const Value y = g.MatMul(p, g.Cast(RepeatHeads(g, v, q), q->dtype.scalar()));
  c.Return(g.Cast(packed ? JoinHeads(g, y) : y, v->dtype.scalar()));
}

void FlexAttention(NodeContext& c) {
  GraphBuilder& g = c.g;
  const Value q = c.In(0), k = RepeatHeads(g, c.In(1), q), v = RepeatHeads(g, c.In(2), q);
  if (!q || !k || !v) return;
  if (g.Rank(q) != 4 || g.Rank(k) != 4 || g.Rank(v) != 4) {
    c.Fail("queries, keys or values of another rank than 4");
    return;
  }
  const Scalar type = q->dtype.scalar();
  const auto scale = AttentionScale(c, q);
  const auto precision = Precision(c, BitWidth(type) < 32 ? Scalar::kF32 : type);
  if (!scale || !precision) return;
  const auto modify = [&](std::string_view attribute, Value x) -> Value {
    if (!c.Find(attribute)) return x;
    const Tensor input{x, TypeFor(*precision), nullptr};
    const std::vector<Tensor> results = c.RunSubgraph(attribute, std::span(&input, 1));
    if (!results.empty() && results[0].value) return g.Cast(results[0].value, *precision);
    return g.ok() ? c.Fail("a graph '" + std::string(attribute) + "' without a result") : nullptr;
  };
  Value p = g.Cast(AttentionScores(g, q, k, *scale), *precision);
  p = AttentionSoftmax(g, modify("score_mod", p));
  p = modify("prob_mod", p);
  c.Return(g.Cast(g.MatMul(p, g.Cast(v, *precision)), v->dtype.scalar()));
}

// Rotates x, [batch, length, heads * size] or [batch, heads, length, size]. The angles are rows of
// the caches `cosines` and `sines`, selected by `positions`, [batch, length]. If `positions` is
// null, the caches are [batch, length, size / 2].
Value RotaryEmbedding(NodeContext& c, Value x, Value positions, Value cosines, Value sines) {
  GraphBuilder& g = c.g;
  if (positions) {
    cosines = g.Gather(cosines, positions, 0);
    sines = g.Gather(sines, positions, 0);
  }
  if (!x || !cosines || !sines) return nullptr;
  if (g.Rank(cosines) != 3 || g.Rank(sines) != 3) {
    return c.Fail(absl::StrCat("angles ", g.Describe(cosines), " and ", g.Describe(sines)));
  }
  const bool packed = g.Rank(x) == 3;
  const int64_t rotated = c.Int("rotary_embedding_dim", 0);
  int64_t heads = c.Int("num_heads", 0);
  const Dim half = g.Extent(cosines, 2);
  if (packed && heads == 0 && !half.is_symbolic() && !g.Extent(x, 2).is_symbolic()) {
    heads = g.Extent(x, 2).value() / (2 * half.value());  // every element is rotated
  }
  if (packed) x = SplitHeads(g, x, heads);
  if (!x || g.Rank(x) != 4) return x ? c.Fail("an input " + g.Describe(x)) : nullptr;
  if (rotated != 0 ? !half.Is(rotated / 2) : !(g.MulDim(half, 2) == g.Extent(x, 3))) {
    return c.Fail(absl::StrCat("angles ", g.Describe(cosines), " for ", g.Describe(x)));
  }
  const Value y = RotatePairs(g, x, g.Unsqueeze(cosines, 1), g.Unsqueeze(sines, 1),
                              c.Int("interleaved", 0) != 0);
  return packed ? JoinHeads(g, y) : y;
}

void StandardRotaryEmbedding(NodeContext& c) {
  c.Return(RotaryEmbedding(c, c.In(0), c.Optional(3), c.In(1), c.In(2)));
}

void MicrosoftRotaryEmbedding(NodeContext& c) {
  GraphBuilder& g = c.g;
  const Value x = c.In(0);
  Value positions = c.In(1);
  if (!x || !positions) return;
  if (c.Float("scale", 1) != 1 || c.Int("is_packed_batching", 0)) {
    c.Fail("a scale or packed batches are not read");
    return;
  }
  if (g.Rank(positions) == 1) {
    // The position of the first row.
    const Dim length = g.Extent(x, g.Rank(x) == 3 ? 1 : 2);
    positions = g.Add(positions, g.Arange(positions->dtype.scalar(), length));
    positions = g.BroadcastTo(positions, {g.Extent(x, 0), length});
  }
  c.Return(RotaryEmbedding(c, x, positions, c.In(2), c.In(3)));
}

constexpr Operator kAttentionOperators[] = {
    {"", "Attention", 23, Attention},
    {"", "RotaryEmbedding", 23, StandardRotaryEmbedding},
    {"ai.onnx.preview", "FlexAttention", 1, FlexAttention},
    {"com.microsoft", "RotaryEmbedding", 1, MicrosoftRotaryEmbedding},
};

}  // namespace

std::span<const Operator> AttentionOperators() { return kAttentionOperators; }

}  // namespace tg::onnx
