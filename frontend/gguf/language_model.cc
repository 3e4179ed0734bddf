#include "frontend/gguf/language_model.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string_view>
#include <utility>
#include <vector>

#include "base/arithmetic.h"
#include "base/check.h"
#include "base/status.h"
#include "frontend/gguf/decoder_graph.h"
#include "frontend/gguf/weight_store.h"

namespace tg::gguf {
namespace {

constexpr int64_t kBlock = LanguageModelOptions::kBlockTokens;
constexpr int64_t kFew = LanguageModelOptions::kFewTokens;

void Declare(Module& module, std::string_view name, Scalar dtype, Role role,
             std::vector<DeclDim> shape) {
  BufferDecl decl;
  decl.name = name;
  decl.dtype = dtype;
  decl.role = role;
  decl.shape = std::move(shape);
  module.buffers.push_back(std::move(decl));
}

// The param of a rotary embedding's frequencies: a row for each set of factors.
RopeTable DeclareRope(Module& module, std::string_view name, const Rope& rope,
                      const std::vector<std::vector<double>>& sets) {
  RopeTable table{.turns = std::string(name), .rows = static_cast<int64_t>(sets.size())};
  BufferDecl decl;
  decl.name = name;
  decl.dtype = Scalar::kU64;
  decl.role = Role::kParam;
  decl.shape = {{.size = table.rows}, {.size = rope.dimensions / 2}};
  decl.values.emplace();
  for (const std::vector<double>& factors : sets) {
    const RopeFrequencies frequencies = FrequenciesOf(rope, factors);
    table.magnitude = frequencies.magnitude;  // the factors do not change it
    for (const double radians : frequencies.radians) {
      const long double turns = radians / (2 * std::numbers::pi_v<long double>);
      const long double whole = std::floor(turns);
      decl.values->push_back(
          static_cast<int64_t>(static_cast<uint64_t>(std::ldexp(turns - whole, 64))));
    }
  }
  module.buffers.push_back(std::move(decl));
  return table;
}

// The factors that divide the frequencies (empty: none). A second set is for texts of more than the
// original context, if the file has one and a text may become so long.
std::vector<std::vector<double>> RopeFactors(WeightStore& weights, const Rope& rope,
                                             int64_t context) {
  const auto read = [&](const std::string& name) {
    return weights.Has(name) ? weights.Numbers(name, rope.dimensions / 2) : std::vector<double>();
  };
  if (weights.Has("rope_freqs.weight")) return {read("rope_freqs.weight")};
  std::vector<std::vector<double>> sets = {read("rope_factors_short.weight")};
  if (static_cast<double>(context) > rope.original_context) {
    std::vector<double> factors = read("rope_factors_long.weight");
    if (factors != sets[0]) sets.push_back(std::move(factors));
  }
  return sets;
}

void DeclareCaches(Module& module, const DecoderContext& c) {
  const Hyperparameters& h = c.h;
  for (int64_t layer = 0; layer < h.layers; ++layer) {
    for (const bool is_key : {true, false}) {
      const std::string name = is_key ? KeyCache(layer) : ValueCache(layer);
      const int64_t size = is_key ? h.key_size : h.value_size;
      const auto declare = [&](const std::string& buffer, Scalar type, int64_t columns) {
        Declare(module, buffer, type, Role::kState,
                {{.size = h.kv_heads}, {.size = c.capacity}, {.size = columns}});
      };
      if (c.cache_type == CacheType::kQ8_0) {
        declare(name, Scalar::kI8, size);
        declare(CacheScales(name), Scalar::kF16, size / CacheBlock(size));
      } else {
        declare(name, c.cache_type == CacheType::kF32 ? Scalar::kF32 : Scalar::kF16, size);
      }
    }
  }
}

// The most tokens of a chunk, in whole blocks.
int64_t ChunkOf(const Hyperparameters& h, int64_t context, const LanguageModelOptions& options) {
  int64_t chunk = options.chunk;
  // In halves, as matrix instructions do (DecoderGraph::InHalves).
  const bool has_tiles = h.key_size % 8 == 0 && h.value_size % 8 == 0;
  const bool fuses = options.fuses_attention && (!options.half_products || has_tiles);
  if (chunk <= 0 && fuses) chunk = LanguageModelOptions::kMaxChunk;
  if (chunk <= 0) {
    const int64_t bytes_of_token = h.heads * context * ByteSize(Scalar::kF32);
    chunk = std::min(LanguageModelOptions::kMaxChunk,
                     LanguageModelOptions::kMaxScoreBytes / bytes_of_token / kBlock * kBlock);
  }
  return RoundUp(std::clamp<int64_t>(chunk, 1, context), kBlock);
}

// The bytes of weights that decoding a token reads.
int64_t BytesOfStep(const WeightStore& weights, const Hyperparameters& h) {
  int64_t bytes = weights.BytesUsed();
  if (weights.Has("output.weight")) bytes -= weights.BytesOf("token_embd.weight");
  for (int64_t layer = 0; h.experts > 0 && layer < h.layers; ++layer) {
    for (const std::string_view name : {"ffn_gate_exps", "ffn_up_exps", "ffn_down_exps"}) {
      const int64_t all = weights.BytesOf(Cat("blk.", layer, ".", name, ".weight"));
      bytes -= all / h.experts * (h.experts - h.experts_used);
    }
  }
  return bytes;
}

// Adds a graph that reads `columns` tokens in each of its rows, and writes `target`.
absl::Status AddGraph(std::string_view name, std::string_view tokens, int64_t columns,
                      std::string_view target, const DecoderContext& c, Module& module,
                      const std::string& path) {
  Graph& graph = *module.graphs.emplace_back(std::make_unique<Graph>());
  graph.name = name;
  GraphBuilder g(module, graph.body);
  const bool is_chunk = columns == kBlock;
  const Dim rows = is_chunk ? Dim(g.ir().Var("blocks")) : Dim(1);
  const Dim last = columns > 1 ? Dim(g.ir().Var(is_chunk ? "last" : "few_last")) : Dim(0);
  DecoderGraph decoder(c, g, rows, columns);
  const Value read = g.ir().Buffer(tokens, Scalar::kI32);
  const Value result = name == "embed" ? decoder.States(read) : decoder.Logits(read, last);
  if (!g.ok()) return InvalidArgument(path, ": ", g.error());
  if (!result) return absl::OkStatus();  // the weights have the error
  const UOp* values[] = {result};
  const std::string_view targets[] = {target};
  graph.body.root = g.ir().Sink(values, targets);
  return absl::OkStatus();
}

}  // namespace

CacheType CacheTypeNamed(std::string_view name) {
  const auto at = std::find(kCacheTypeNames.begin(), kCacheTypeNames.end(), name);
  TG_CHECK(at != kCacheTypeNames.end());
  return static_cast<CacheType>(at - kCacheTypeNames.begin());
}

absl::StatusOr<LanguageModel> BuildLanguageModel(const Model& model,
                                                 const LanguageModelOptions& options) {
  absl::StatusOr<Hyperparameters> h = ReadHyperparameters(model);
  if (!h.ok()) return h.status();
  const std::string& path = model.paths[0];
  LanguageModel result;
  result.parameters = *h;
  result.context = options.context > 0
                       ? options.context
                       : std::min(h->context, LanguageModelOptions::kDefaultContext);
  if (result.context > h->context) {
    return InvalidArgument(path, ": the model is for texts of ", h->context, " tokens, not ",
                           result.context);
  }
  result.max_blocks = ChunkOf(*h, result.context, options) / kBlock;
  result.module = std::make_unique<Module>();
  Module& module = *result.module;
  module.name = frontend::SymbolFrom(h->architecture.name);
  module.path = path;
  module.vars = {{.name = "position", .min = 0, .max = result.context - 1},
                 {.name = "blocks", .min = 1, .max = result.max_blocks}};
  Declare(module, "tokens", Scalar::kI32, Role::kInput, {{.var = "blocks"}, {.size = kBlock}});
  if (options.for_embeddings) {
    Declare(module, "embeddings", Scalar::kF32, Role::kOutput,
            {{.var = "blocks"}, {.size = kBlock}, {.size = h->width}});
  } else {
    module.vars.push_back({.name = "last", .min = 0, .max = result.max_blocks * kBlock - 1});
    module.vars.push_back({.name = "few_last", .min = 0, .max = kFew - 1});
    Declare(module, "few_tokens", Scalar::kI32, Role::kInput, {{.size = 1}, {.size = kFew}});
    Declare(module, "token", Scalar::kI32, Role::kInput, {{.size = 1}, {.size = 1}});
    Declare(module, "logits", Scalar::kF32, Role::kOutput, {{.size = h->vocabulary}});
  }

  WeightStore weights(model, module);
  DecoderContext c{.h = *h, .weights = weights};
  c.cache_type = options.cache_type;
  c.half_products = options.half_products;
  if (c.half_products) module.flags.Add(ModuleFlag::kWideHalves);
  // The last block of a chunk is padded beyond the last position.
  c.capacity = RoundUp(result.context + kBlock - 1, kBlock);
  c.rope = DeclareRope(module, "rope", h->rope, RopeFactors(weights, h->rope, result.context));
  if (c.rope.rows > 1) {
    result.short_context = static_cast<int64_t>(h->rope.original_context);
    module.vars.push_back({.name = "long", .min = 0, .max = c.rope.rows - 1});
  }
  c.window_rope = h->architecture.window_rope_base > 0 && h->window > 0
                      ? DeclareRope(module, "window_rope", h->window_rope, {{}})
                      : c.rope;
  DeclareCaches(module, c);
  std::vector<std::string> spare = {"rope_freqs.weight", "rope_factors_long.weight",
                                    "rope_factors_short.weight"};
  if (options.for_embeddings) {
    spare.insert(spare.end(), {"output.weight", "output.bias"});
    TG_RETURN_IF_ERROR(AddGraph("embed", "tokens", kBlock, "embeddings", c, module, path));
  } else {
    TG_RETURN_IF_ERROR(AddGraph("prefill", "tokens", kBlock, "logits", c, module, path));
    TG_RETURN_IF_ERROR(AddGraph("few", "few_tokens", kFew, "logits", c, module, path));
    TG_RETURN_IF_ERROR(AddGraph("decode", "token", 1, "logits", c, module, path));
  }
  TG_RETURN_IF_ERROR(weights.Check(spare));
  result.weight_bytes = BytesOfStep(weights, *h);
  return result;
}

}  // namespace tg::gguf
