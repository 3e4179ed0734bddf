// Attention of ONNX Runtime's domain.
#include <limits>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "frontend/onnx/attention.h"

namespace tg::onnx {
namespace {

constexpr std::string_view kDomain = "com.microsoft";

// Inputs and attributes that change the meaning and are not read.
bool Refuse(NodeContext& c, std::initializer_list<std::pair<size_t, std::string_view>> inputs,
            std::initializer_list<std::string_view> attributes) {
  for (const auto& [i, name] : inputs) {
    if (c.Has(i)) c.Fail(absl::StrCat("the input ", std::string(name), " is not read"));
  }
  for (const std::string_view name : attributes) {
    if (c.Int(name, 0)) c.Fail(absl::StrCat("the attribute ", std::string(name), " is not read"));
  }
  return c.g.ok();
}

// The bias that an integer mask adds to the scores [batch, heads, queries, keys]: the filter value
// at hidden keys. The mask is 0 at hidden keys ([batch, keys] or [batch, queries, keys]), or has
// the ends of the keys ([batch]), maybe followed by their starts ([2 * batch]).
Value FilterBias(NodeContext& c, Value mask, const Dim& batch, const Dim& keys, Scalar type) {
  GraphBuilder& g = c.g;
  if (!mask) return nullptr;
  Value visible = nullptr;
  const size_t rank = g.Rank(mask);
  if (rank == 1) {
    const Dim given = g.Extent(mask, 0);
    const Value key = g.Arange(mask->dtype.scalar(), keys);
    const auto part = [&](int64_t i) {
      const Dim start = g.MulDim(batch, Dim(i));
      return g.Reshape(g.Slice(mask, 0, start, g.AddDim(start, batch)),
                       {batch, Dim(1), Dim(1), Dim(1)});
    };
    const bool has_starts = given == g.MulDim(batch, Dim(2));
    if (!has_starts && !(given == batch)) return c.Fail("a mask " + g.Describe(mask));
    visible = g.Lt(key, part(0));
    if (has_starts) visible = g.And(visible, g.Le(part(1), key));
  } else if (rank == 2 || rank == 3) {
    visible = g.Gt(mask, g.Like(mask, 0));
    if (rank == 2) visible = g.Unsqueeze(visible, 1);
    visible = g.Unsqueeze(visible, 1);
  } else {
    return c.Fail("a mask " + g.Describe(mask));
  }
  return g.Where(visible, g.Const(type, 0), g.Const(type, c.Float("mask_filter_value", -10000)));
}

struct Problem {
  Value q = nullptr, k = nullptr, v = nullptr;  // [batch, heads, length, size]
  Value mask = nullptr, bias = nullptr;         // added to the scores
  Value visible = nullptr;
  Value sink = nullptr;
  double softcap = 0;
};

struct Solution {
  Value output = nullptr;  // [batch, queries, heads * size]
  Value scores = nullptr, probabilities = nullptr;
};

Solution Solve(NodeContext& c, const Problem& p) {
  GraphBuilder& g = c.g;
  const auto scale = AttentionScale(c, p.q);
  if (!scale || !g.ok()) return {};
  const Scalar type = p.q->dtype.scalar();
  const Scalar wide = BitWidth(type) < 32 ? Scalar::kF32 : type;
  const auto widen = [&](Value x) { return g.Cast(x, wide); };
  Solution s;
  s.scores = AttentionScores(g, widen(p.q), widen(RepeatHeads(g, p.k, p.q)), *scale);
  s.scores = SoftCap(g, s.scores, p.softcap);
  // The least finite number hides a key, so that a row without a key has a softmax.
  const Value hidden = MaskBias(g, p.visible, wide, std::numeric_limits<float>::lowest());
  for (const Value bias : {p.bias, p.mask, hidden}) {
    if (bias) s.scores = g.Add(s.scores, widen(bias));
  }
  s.probabilities = AttentionSoftmax(g, s.scores, p.sink ? widen(p.sink) : nullptr);
  const Value y = g.MatMul(s.probabilities, widen(RepeatHeads(g, p.v, p.q)));
  s.output = g.Cast(JoinHeads(g, y), type);
  s.scores = g.Cast(s.scores, type);
  s.probabilities = g.Cast(s.probabilities, type);
  return s;
}

// Keys up to each query's own position, where `past` keys come before the first query.
Value Causal(GraphBuilder& g, Value q, Value k, const Dim& past) {
  Visibility v{g.Extent(q, 2), g.Extent(k, 2)};
  v.offset = g.DimValue(Scalar::kI32, past);
  v.right = 0;
  return VisibleKeys(g, v);
}

void MicrosoftAttention(NodeContext& c) {
  GraphBuilder& g = c.g;
  if (!Refuse(c, {{6, "past_sequence_length"}}, {"do_rotary", "past_present_share_buffer"})) return;
  const Value x = c.In(0), weights = c.In(1);
  Value projected = g.MatMul(x, weights);
  if (c.Has(2)) projected = g.Add(projected, c.In(2));
  if (!projected) return;
  const Dim width = g.Extent(projected, static_cast<int64_t>(g.Rank(projected)) - 1);
  Ints sizes = c.List("qkv_hidden_sizes").value_or(Ints());
  if (sizes.empty() && !width.is_symbolic()) sizes.assign(3, width.value() / 3);
  if (sizes.size() != 3 || !width.Is(sizes[0] + sizes[1] + sizes[2])) {
    c.Fail("the sizes of queries, keys and values in " + g.Describe(projected));
    return;
  }
  Problem p;
  int64_t start = 0, i = 0;
  for (Value* part : {&p.q, &p.k, &p.v}) {
    *part = SplitHeads(g, g.Slice(projected, -1, start, start + sizes[static_cast<size_t>(i)]),
                       c.Int("num_heads", 0));
    start += sizes[static_cast<size_t>(i++)];
  }
  if (!g.ok()) return;
  Dim past = 0;
  if (c.Has(4)) {
    // Keys and values as one tensor.
    const auto half = [&](int64_t k) { return g.Squeeze(g.Slice(c.In(4), 0, k, k + 1), 0); };
    const Value keys[] = {half(0), p.k}, values[] = {half(1), p.v};
    past = g.Extent(keys[0], 2);
    p.k = g.Concat(keys, 2);
    p.v = g.Concat(values, 2);
  }
  if (!g.ok()) return;
  if (c.Wants(1)) {
    const Value both[] = {p.k, p.v};
    c.Return(g.Stack(both, 0), 1);
  }
  p.mask = FilterBias(c, c.Optional(3), g.Extent(p.q, 0), g.Extent(p.k, 2), p.q->dtype.scalar());
  p.bias = c.Optional(5);
  if (c.Int("unidirectional", 0)) p.visible = Causal(g, p.q, p.k, past);
  c.Return(Solve(c, p).output);
}

void MultiHeadAttention(NodeContext& c) {
  GraphBuilder& g = c.g;
  if (!Refuse(c, {{8, "past_sequence_length"}, {9, "cache_indirection"}}, {})) return;
  const int64_t heads = c.Int("num_heads", 0);
  Value parts[3] = {c.In(0), c.Optional(1), c.Optional(2)};
  if (!parts[0]) return;
  // Part `i` of [batch, length, heads, parts, size].
  const auto unpack = [&](Value x, int64_t i) {
    return g.Flatten(g.Squeeze(g.Slice(x, 3, i, i + 1), 3), 2, 4);
  };
  if (g.Rank(parts[0]) == 5) {
    const Value all = parts[0];
    for (int64_t i = 0; i < 3; ++i) parts[i] = unpack(all, i);
  } else if (parts[1] && g.Rank(parts[1]) == 5) {
    const Value both = parts[1];
    for (int64_t i = 0; i < 2; ++i) parts[i + 1] = unpack(both, i);
  }
  if (!g.ok()) return;
  if (!parts[1] || !parts[2]) {
    c.Fail("queries without keys or values");
    return;
  }
  Value split[3];
  Dim start = 0;
  for (size_t i = 0; i < 3; ++i) {
    Value part = parts[i];
    if (g.Rank(part) == 4) {  // already by heads, with the bias in it
      split[i] = part;
      continue;
    }
    if (c.Has(3)) {
      const Dim end = g.AddDim(start, g.Extent(part, 2));
      part = g.Add(part, g.Slice(c.In(3), 0, start, end));
      start = end;
    }
    split[i] = SplitHeads(g, part, heads);
  }
  if (!g.ok()) return;
  Problem p;
  p.q = split[0];
  p.k = split[1];
  p.v = split[2];
  Dim past = 0;
  if (c.Has(6)) {
    const Value keys[] = {c.In(6), p.k}, values[] = {c.In(7), p.v};
    past = g.Extent(keys[0], 2);
    p.k = g.Concat(keys, 2);
    p.v = g.Concat(values, 2);
  }
  if (!g.ok()) return;
  c.Return(p.k, 1);
  c.Return(p.v, 2);
  p.mask = FilterBias(c, c.Optional(4), g.Extent(p.q, 0), g.Extent(p.k, 2), p.q->dtype.scalar());
  p.bias = c.Optional(5);
  if (c.Int("unidirectional", 0)) p.visible = Causal(g, p.q, p.k, past);
  const Solution s = Solve(c, p);
  c.Return(s.output);
  c.Return(s.scores, 3);
}

// A cache, [batch, heads, length, size], after a step: its first `past` entries ([batch, 1, 1, 1]),
// then the rows of `fresh`.
Value UpdateCache(GraphBuilder& g, Value cache, Value fresh, Value past, const Dim& length) {
  if (!cache || !fresh) return fresh;
  const Dim have = g.Extent(cache, 2), rows = g.Extent(fresh, 2);
  const Value numbers = g.Arange(Scalar::kI32, length);
  if (!have.is_symbolic() && !length.is_symbolic()) {
    std::vector<std::pair<Dim, Dim>> widths(4, {0, 0});
    widths[2].second = length.value() - have.value();
    cache = g.Pad(cache, widths);
  } else {
    // A pad by symbolic lengths would not be recognised to give the extent `length`. So rows beyond
    // the cache are selected from `fresh` by index.
    const Value last = g.Sub(g.DimValue(Scalar::kI32, have), g.ConstInt(Scalar::kI32, 1));
    cache = g.Gather(cache, g.Min(numbers, last), 2);
  }
  const Value place = g.Reshape(numbers, {length, Dim(1)});
  Value placed = fresh;  // a single row is at each place that could be its own
  if (!rows.Is(1)) {
    const Value last = g.Sub(g.DimValue(Scalar::kI32, rows), g.ConstInt(Scalar::kI32, 1));
    const Value row = g.Clip(g.Sub(place, past), g.ConstInt(Scalar::kI32, 0), last);
    Shape shape = g.ShapeOf(fresh);
    shape[2] = length;
    placed = g.GatherElements(fresh, g.BroadcastTo(row, shape), 2);
  }
  return g.Where(g.Lt(place, past), cache, placed);
}

void GroupQueryAttention(NodeContext& c) {
  GraphBuilder& g = c.g;
  if (!Refuse(c,
              {{12, "k_scale"},
               {13, "v_scale"},
               {14, "q_norm_weight"},
               {15, "k_norm_weight"},
               {16, "query_seqlens"}},
              {"sliding_window_cache"})) {
    return;
  }
  const int64_t heads = c.Int("num_heads", 0), kv_heads = c.Int("kv_num_heads", 0);
  Value query = c.In(0), key = c.Optional(1), value = c.Optional(2);
  const Value lengths = c.In(5);
  const auto total_given = c.KnownDims(6);
  if (!query || !lengths || !total_given || total_given->size() != 1) return;
  if (!key) {
    const Dim width = g.Extent(query, 2);
    if (width.is_symbolic() || width.value() % (heads + 2 * kv_heads) != 0) {
      c.Fail("heads packed in " + g.Describe(query));
      return;
    }
    const int64_t size = width.value() / (heads + 2 * kv_heads);
    const int64_t ends[] = {heads * size, (heads + kv_heads) * size, width.value()};
    key = g.Slice(query, 2, ends[0], ends[1]);
    value = g.Slice(query, 2, ends[1], ends[2]);
    query = g.Slice(query, 2, 0, ends[0]);
  }
  Problem p;
  p.q = SplitHeads(g, query, heads);
  p.k = SplitHeads(g, key, kv_heads);
  p.v = SplitHeads(g, value, kv_heads);
  if (!g.ok()) return;
  const Dim batch = g.Extent(p.q, 0), rows = g.Extent(p.q, 2);
  // The number of keys before the first query of each sequence. A prompt that is padded on the
  // right has more rows than keys; then there are none.
  const Value count = g.Reshape(g.Add(g.Cast(lengths, Scalar::kI32), g.ConstInt(Scalar::kI32, 1)),
                                {batch, Dim(1), Dim(1), Dim(1)});
  const Value past =
      g.Max(g.Sub(count, g.DimValue(Scalar::kI32, rows)), g.ConstInt(Scalar::kI32, 0));
  if (c.Int("do_rotary", 0)) {
    Value positions = c.Optional(9);
    if (!positions) {
      positions = g.Add(g.Reshape(past, {batch, Dim(1)}), g.Arange(Scalar::kI32, rows));
    }
    const Value cosines = g.Unsqueeze(g.Gather(c.In(7), positions, 0), 1);
    const Value sines = g.Unsqueeze(g.Gather(c.In(8), positions, 0), 1);
    const bool interleaved = c.Int("rotary_interleaved", 0) != 0;
    p.q = RotatePairs(g, p.q, cosines, sines, interleaved);
    p.k = RotatePairs(g, p.k, cosines, sines, interleaved);
  }
  const Dim total = (*total_given)[0];
  if (c.Has(3)) {
    // A cache that is longer than all keys is one buffer, which keeps its length.
    const Dim have = g.Extent(c.In(3), 2);
    const bool fixed = !have.is_symbolic() && !total.is_symbolic() && have.value() > total.value();
    const Dim length = fixed ? have : total;
    p.k = UpdateCache(g, c.In(3), p.k, past, length);
    p.v = UpdateCache(g, c.In(4), p.v, past, length);
  }
  c.Return(p.k, 1);
  c.Return(p.v, 2);
  if (!g.ok()) return;
  p.k = g.Slice(p.k, 2, 0, total);
  p.v = g.Slice(p.v, 2, 0, total);
  Visibility v{rows, total};
  v.offset = past;
  if (c.Int("causal", 1)) {
    v.right = 0;
    // The window counts the query's own position.
    const int64_t window = c.Int("local_window_size", -1);
    if (window > 0) v.left = window - 1;
  } else {
    v.valid_keys = count;
  }
  p.visible = VisibleKeys(g, v);
  p.bias = c.Optional(10);
  p.softcap = c.Float("softcap", 0);
  if (c.Has(11)) {
    p.sink = g.Reshape(c.In(11), {Dim(heads), Dim(1), Dim(1)});
  } else if (c.Int("smooth_softmax", 0)) {
    p.sink = g.Like(p.q, 0);
  }
  const Solution s = Solve(c, p);
  c.Return(s.output);
  const int64_t wanted = c.Int("qk_output", 0);
  if (wanted) c.Return(wanted == 1 ? s.scores : s.probabilities, 3);
}

constexpr Operator kMicrosoftAttentionOperators[] = {
    {kDomain, "Attention", 1, MicrosoftAttention},
    {kDomain, "GroupQueryAttention", 1, GroupQueryAttention},
    {kDomain, "MultiHeadAttention", 1, MultiHeadAttention},
};

}  // namespace

std::span<const Operator> MicrosoftAttentionOperators() { return kMicrosoftAttentionOperators; }

}  // namespace tg::onnx
