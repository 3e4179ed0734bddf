#include "frontend/gguf/decoder_graph.h"

#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>
#include <utility>
#include <vector>

#include "base/status.h"
#include "frontend/common/attention.h"
#include "frontend/gguf/language_model.h"

namespace tg::gguf {
namespace {

// Keys are read in whole blocks, so that loops over them have an axis of a known size. Keys after
// the last token are masked.
constexpr int64_t kBlockKeys = LanguageModelOptions::kBlockTokens;

constexpr char kEmbedding[] = "token_embd.weight", kOutputNorm[] = "output_norm.weight";

using enum Scalar;

}  // namespace

std::string KeyCache(int64_t layer) { return Cat("cache.", layer, ".k"); }
std::string ValueCache(int64_t layer) { return Cat("cache.", layer, ".v"); }
std::string CacheScales(const std::string& cache) { return cache + ".d"; }

int64_t CacheBlock(int64_t size) { return std::gcd(size, int64_t{32}); }

DecoderGraph::DecoderGraph(const DecoderContext& context, GraphBuilder& g, const Dim& rows,
                           const Dim& columns)
    : c_(context),
      h_(context.h),
      g_(g),
      rows_(rows),
      columns_(columns),
      count_(g.MulDim(rows, columns)),
      first_(g.ir().Var("position")),
      end_(g.AddDim(first_, count_)),
      key_blocks_(g.FloorDivDim(g.AddDim(end_, kBlockKeys - 1), kBlockKeys)) {
  const int64_t pairs = h_.rope.dimensions / 2;
  angles_ = MakeAngles(c_.rope, pairs);
  const bool differs = c_.window_rope.turns != c_.rope.turns;
  window_angles_ = differs ? MakeAngles(c_.window_rope, pairs) : angles_;
}

Value DecoderGraph::Positions() {
  const Value number = g_.Reshape(g_.Arange(kI32, count_), {rows_, columns_});
  return g_.Add(number, g_.DimValue(kI32, first_));
}

DecoderGraph::Angles DecoderGraph::MakeAngles(const RopeTable& table, int64_t pairs) {
  // The position times the fraction of a turn, modulo 2^64. Whole turns vanish, and the upper 32
  // bits are exact at any position. Read as a signed number they are an angle from minus half a
  // turn to half a turn.
  const Value positions =
      g_.Reshape(g_.Cast(Positions(), Scalar::kU64), {rows_, columns_, Dim(1), Dim(1)});
  const Dim row = table.rows > 1 ? Dim(g_.ir().Var("long")) : Dim(0);
  const Value frequencies = g_.Reshape(
      g_.Slice(g_.ir().Buffer(table.turns, Scalar::kU64), 0, row, g_.AddDim(row, 1)), {pairs});
  const Value turns = g_.Mul(positions, frequencies);
  const Value upper =
      g_.Cast(g_.Binary(Op::kShr, turns, g_.ConstInt(Scalar::kU64, 32)), Scalar::kU32);
  const Value angle = g_.Mul(g_.Cast(g_.Bitcast(upper, kI32), kF32),
                             g_.Const(kF32, 2 * std::numbers::pi / 4294967296.0));
  const auto stored = [&](Value x) {
    return g_.Reshape(g_.Stored(g_.Mul(x, g_.Const(kF32, table.magnitude))),
                      {rows_, columns_, Dim(1), Dim(pairs)});
  };
  return {stored(g_.Cos(angle)), stored(g_.Sin(angle))};
}

Value DecoderGraph::Norm(Value x, const std::string& name, int64_t size) {
  const Weight* weight = c_.weights.Get(name, {size});
  if (!weight || !x) return nullptr;
  const Value scale =
      g_.Recip(g_.Sqrt(g_.Add(g_.Mean(g_.Mul(x, x), {-1}, true), g_.Const(kF32, h_.epsilon))));
  return g_.Mul(g_.Mul(x, scale), DecodeWhole(g_, weight->type, Fields(g_, *weight)));
}

Value DecoderGraph::Project(Value x, const std::string& name, int64_t rows, int64_t columns) {
  const Weight* weight = c_.weights.Get(name + ".weight", {rows, columns});
  if (!weight) return nullptr;
  // For few rows, halves of the weights would be written and read in place of their blocks. Where
  // there are matrix instructions, work-items that decode in registers multiply these rows as they
  // do one. Vectors multiply a tile of them.
  const bool in_halves = c_.half_products && count_.is_symbolic();
  const std::vector<Value> fields = Fields(g_, *weight);
  const Value y = in_halves ? LinearInHalves(g_, x, weight->type, fields)
                            : Linear(g_, x, weight->type, fields, c_.half_products);
  if (!c_.weights.Has(name + ".bias")) return y;
  const Weight* bias = c_.weights.Get(name + ".bias", {rows});
  return bias ? g_.Add(y, DecodeWhole(g_, bias->type, Fields(g_, *bias))) : nullptr;
}

Value DecoderGraph::Rotate(Value x, int64_t layer) {
  const Angles& angles = h_.HasWindow(layer) ? window_angles_ : angles_;
  return frontend::RotatePairs(g_, x, angles.cosines, angles.sines,
                               h_.architecture.rope_interleaved);
}

Value DecoderGraph::Written(const std::string& buffer, Value rows, Scalar type) {
  const Value whole = g_.ir().Buffer(buffer, type);
  const Value place = g_.Slice(whole, 1, first_, end_);
  if (!place || !rows) return nullptr;
  const Value written = g_.ir().Alu(Op::kAssign, {place, g_.Cast(rows, type)});
  const Value now = g_.ir().Alu(Op::kAfter, {whole, written});
  return g_.Slice(now, 1, 0, g_.MulDim(key_blocks_, kBlockKeys));
}

Value DecoderGraph::Cached(const std::string& cache, Value x, int64_t size) {
  if (!x) return nullptr;
  const Dim keys = g_.MulDim(key_blocks_, kBlockKeys);
  const Value rows = g_.Reshape(g_.Permute(x, {2, 0, 1, 3}), {Dim(h_.kv_heads), count_, Dim(size)});
  Value all = nullptr;
  if (c_.cache_type == CacheType::kQ8_0) {
    // The scale as it is stored decides the codes, so that its rounding adds no error.
    constexpr double kMost = 127;
    const int64_t block = CacheBlock(size), blocks = size / block;
    const Value parts = g_.Reshape(rows, {Dim(h_.kv_heads), count_, Dim(blocks), Dim(block)});
    const Value largest = g_.Reduce(Op::kMax, g_.Abs(parts), {-1}, true);
    const Value scale = g_.Cast(g_.Cast(g_.Mul(largest, g_.Const(kF32, 1 / kMost)), kF16), kF32);
    const Value zero = g_.Const(kF32, 0), most = g_.Const(kF32, kMost);
    const Value quotient = g_.Where(g_.Eq(scale, zero), zero,
                                    g_.Div(parts, scale));  // of what f16 has no scale for: 0
    const Value codes = g_.Max(g_.Neg(most), g_.Min(g_.Round(quotient), most));
    const Value written =
        Written(cache, g_.Reshape(codes, {Dim(h_.kv_heads), count_, Dim(size)}), Scalar::kI8);
    const Value scales = Written(CacheScales(cache), g_.Squeeze(scale, -1), kF16);
    if (!written || !scales) return nullptr;
    all = g_.Mul(
        g_.Reshape(g_.Cast(written, kF32), {Dim(h_.kv_heads), keys, Dim(blocks), Dim(block)}),
        g_.Unsqueeze(g_.Cast(scales, kF32), -1));
  } else {
    all = Written(cache, rows, c_.cache_type == CacheType::kF32 ? kF32 : kF16);
  }
  return InHalves() ? all : g_.Cast(all, kF32);
}

bool DecoderGraph::InHalves() const { return c_.half_products && !count_.Is(1); }

Value DecoderGraph::Attend(int64_t layer, Value q, Value k, Value v) {
  if (!q || !k || !v) return nullptr;
  // [kv heads, heads of a group, tokens, keys, size]. The keys of one token are in blocks, whose
  // parts of the softmax work-items compute at the same time.
  const bool is_chunk = !count_.Is(1);
  const Dim kv_heads = h_.kv_heads, groups = h_.heads / h_.kv_heads;
  const Dim all_keys = g_.MulDim(key_blocks_, kBlockKeys);
  const Shape tokens = is_chunk ? Shape{count_} : Shape{rows_, columns_};
  const Shape keys = is_chunk ? Shape{all_keys} : Shape{key_blocks_, kBlockKeys};
  const auto ones = [](const Shape& of) { return Shape(of.size(), 1); };
  const auto join = [](std::initializer_list<Shape> parts) {
    Shape all;
    for (const Shape& part : parts) all.insert(all.end(), part.begin(), part.end());
    return all;
  };
  // What matrix instructions of halves multiply.
  const auto factor = [&](Value x) { return InHalves() ? g_.Cast(g_.Cast(x, kF16), kF32) : x; };
  const auto of_keys = [&](Value x, int64_t size) {
    return factor(g_.Reshape(x, join({{kv_heads, 1}, ones(tokens), keys, {size}})));
  };
  const Value split = g_.Reshape(q, {rows_, columns_, kv_heads, groups, Dim(h_.key_size)});
  const Value queries = g_.Reshape(g_.Permute(split, {2, 3, 0, 1, 4}),
                                   join({{kv_heads, groups}, tokens, ones(keys), {h_.key_size}}));
  Value scores = g_.Sum(g_.Mul(factor(queries), of_keys(k, h_.key_size)), {-1});
  if (h_.score_cap > 0) scores = frontend::SoftCap(g_, scores, h_.score_cap);
  const Value key = g_.Reshape(g_.Arange(kI32, all_keys), keys);
  const Value position = g_.Reshape(Positions(), join({tokens, ones(keys)}));
  Value visible = g_.Le(key, position);
  if (h_.HasWindow(layer)) {
    visible = g_.And(visible, g_.Lt(g_.Sub(position, g_.ConstInt(kI32, h_.window)), key));
  }
  scores = g_.Where(visible, scores, g_.Const(kF32, -std::numeric_limits<double>::infinity()));
  const std::vector<int64_t> of_scores =
      is_chunk ? std::vector<int64_t>{-1} : std::vector<int64_t>{-2, -1};
  const std::vector<int64_t> of_products =
      is_chunk ? std::vector<int64_t>{-2} : std::vector<int64_t>{-3, -2};
  const Value largest = g_.Reduce(Op::kMax, scores, of_scores, true);
  const Value e = factor(g_.Exp(g_.Sub(scores, largest)));
  const Value weights = g_.Div(e, g_.Sum(e, of_scores, true));
  const Value heads =
      g_.Sum(g_.Mul(g_.Unsqueeze(weights, -1), of_keys(v, h_.value_size)), of_products);
  const Value by_token = g_.Reshape(heads, {kv_heads, groups, rows_, columns_, Dim(h_.value_size)});
  return g_.Reshape(g_.Permute(by_token, {2, 3, 0, 1, 4}),
                    {rows_, columns_, Dim(h_.heads * h_.value_size)});
}

Value DecoderGraph::Attention(int64_t layer, const std::string& prefix, Value x) {
  const int64_t nq = h_.heads * h_.key_size, nk = h_.kv_heads * h_.key_size;
  const int64_t nv = h_.kv_heads * h_.value_size;
  Value q = nullptr, k = nullptr, v = nullptr;
  if (h_.architecture.fuses_projections && c_.weights.Has(prefix + "attn_qkv.weight")) {
    const Value all = Project(x, prefix + "attn_qkv", nq + nk + nv, h_.width);
    q = g_.Slice(all, -1, 0, nq);
    k = g_.Slice(all, -1, nq, nq + nk);
    v = g_.Slice(all, -1, nq + nk, nq + nk + nv);
  } else {
    q = Project(x, prefix + "attn_q", nq, h_.width);
    k = Project(x, prefix + "attn_k", nk, h_.width);
    v = Project(x, prefix + "attn_v", nv, h_.width);
  }
  q = g_.Reshape(q, {rows_, columns_, Dim(h_.heads), Dim(h_.key_size)});
  k = g_.Reshape(k, {rows_, columns_, Dim(h_.kv_heads), Dim(h_.key_size)});
  v = g_.Reshape(v, {rows_, columns_, Dim(h_.kv_heads), Dim(h_.value_size)});
  if (h_.architecture.norms_queries_and_keys) {
    q = Norm(q, prefix + "attn_q_norm.weight", h_.key_size);
    k = Norm(k, prefix + "attn_k_norm.weight", h_.key_size);
  }
  q = g_.Mul(Rotate(q, layer), g_.Const(kF32, h_.query_scale));
  k = Rotate(k, layer);
  const Value heads = Attend(layer, q, Cached(KeyCache(layer), k, h_.key_size),
                             Cached(ValueCache(layer), v, h_.value_size));
  return Project(heads, prefix + "attn_output", h_.width, h_.heads * h_.value_size);
}

Value DecoderGraph::Activate(Value gate, Value up) {
  const Value active = h_.architecture.activation == Activation::kSilu
                           ? g_.Mul(gate, g_.Sigmoid(gate))
                           : g_.GeluTanh(gate);
  return g_.Mul(active, up);
}

Value DecoderGraph::FeedForward(const std::string& prefix, Value x) {
  const int64_t n = h_.feed_forward;
  Value gate = nullptr, up = nullptr;
  if (h_.architecture.fuses_projections) {
    const Value both = Project(x, prefix + "ffn_up", 2 * n, h_.width);
    gate = g_.Slice(both, -1, 0, n);
    up = g_.Slice(both, -1, n, 2 * n);
  } else {
    gate = Project(x, prefix + "ffn_gate", n, h_.width);
    up = Project(x, prefix + "ffn_up", n, h_.width);
  }
  return Project(Activate(gate, up), prefix + "ffn_down", h_.width, n);
}

Value DecoderGraph::Experts(const std::string& prefix, Value x) {
  const Value scores = g_.Softmax(Project(x, prefix + "ffn_gate_inp", h_.experts, h_.width), -1);
  const auto [sorted, numbers] = g_.Sort(scores, -1, /*descending=*/true);
  const Value best = g_.Slice(sorted, -1, 0, h_.experts_used);
  const Value chosen = g_.Stored(g_.Cast(g_.Slice(numbers, -1, 0, h_.experts_used), kI32));
  const Value share = g_.Div(best, g_.Sum(best, {-1}, true));
  // [rows, columns, experts used, ...].
  const auto project = [&](Value y, std::string_view name, int64_t rows, int64_t columns) -> Value {
    const Weight* weight =
        c_.weights.Get(prefix + std::string(name) + ".weight", {h_.experts, rows, columns});
    if (!weight) return nullptr;
    std::vector<Value> fields = Fields(g_, *weight);
    for (Value& field : fields) field = g_.Gather(field, chosen, 0);
    return Linear(g_, y, weight->type, fields);
  };
  const int64_t n = h_.expert_feed_forward;
  const Value tokens = g_.Unsqueeze(x, -2);
  const Value gate = project(tokens, "ffn_gate_exps", n, h_.width);
  const Value up = project(tokens, "ffn_up_exps", n, h_.width);
  const Value down = project(Activate(gate, up), "ffn_down_exps", h_.width, n);
  return g_.Sum(g_.Mul(down, g_.Unsqueeze(share, -1)), {-2});
}

Value DecoderGraph::Layer(int64_t layer, Value x) {
  const std::string prefix = Cat("blk.", layer, ".");
  const bool norms_outputs = h_.architecture.norms_outputs;
  const Value in = Norm(x, prefix + "attn_norm.weight", h_.width);
  Value attended = Attention(layer, prefix, in);
  if (norms_outputs) attended = Norm(attended, prefix + "post_attention_norm.weight", h_.width);
  x = g_.Add(x, attended);
  const Value middle = Norm(x, prefix + "ffn_norm.weight", h_.width);
  Value out = h_.experts > 0 ? Experts(prefix, middle) : FeedForward(prefix, middle);
  if (norms_outputs) out = Norm(out, prefix + "post_ffw_norm.weight", h_.width);
  return g_.Add(x, out);
}

Value DecoderGraph::Layers(Value tokens) {
  const Weight* table = c_.weights.Get(kEmbedding, {h_.vocabulary, h_.width});
  Value x = nullptr;
  if (table) {
    std::vector<Value> fields = Fields(g_, *table);
    for (Value& field : fields) field = g_.Gather(field, tokens, 0);
    // The layers read the rows in several ways: without a copy, each would gather them anew.
    x = g_.Stored(DecodeWhole(g_, table->type, fields));
    if (h_.architecture.scales_embedding) {
      x = g_.Mul(x, g_.Const(kF32, std::sqrt(static_cast<double>(h_.width))));
    }
  }
  // A missing tensor does not end the walk, so that an error names all of them.
  for (int64_t layer = 0; layer < h_.layers; ++layer) x = Layer(layer, x);
  return x;
}

Value DecoderGraph::States(Value tokens) { return Norm(Layers(tokens), kOutputNorm, h_.width); }

Value DecoderGraph::Logits(Value tokens, const Dim& last) {
  Value x = g_.Reshape(Layers(tokens), {count_, Dim(h_.width)});
  x = g_.Slice(x, 0, last, g_.AddDim(last, 1));
  x = Norm(x, kOutputNorm, h_.width);
  const bool is_tied = !c_.weights.Has("output.weight");
  const Weight* head =
      c_.weights.Get(is_tied ? kEmbedding : "output.weight", {h_.vocabulary, h_.width});
  if (!head || !x) return nullptr;
  Value logits = Linear(g_, x, head->type, Fields(g_, *head));
  if (c_.weights.Has("output.bias")) {
    const Weight* bias = c_.weights.Get("output.bias", {h_.vocabulary});
    logits = bias ? g_.Add(logits, DecodeWhole(g_, bias->type, Fields(g_, *bias))) : nullptr;
  }
  if (h_.logit_cap > 0) logits = frontend::SoftCap(g_, logits, h_.logit_cap);
  return g_.Reshape(logits, {Dim(h_.vocabulary)});
}

}  // namespace tg::gguf
