// One graph of a text model: the decoder on a rectangle of tokens.
#ifndef TG_FRONTEND_GGUF_DECODER_GRAPH_H_
#define TG_FRONTEND_GGUF_DECODER_GRAPH_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "frontend/common/graph_builder.h"
#include "frontend/gguf/architecture.h"
#include "frontend/gguf/language_model.h"
#include "frontend/gguf/weight_store.h"

namespace tg::gguf {

// The frequencies of a rotary embedding as a param of the module: the fraction of a full turn per
// position, times 2^64. With two rows, variable @long chooses one.
struct RopeTable {
  std::string turns;
  int64_t rows = 1;
  double magnitude = 1;
};

// What the graphs have in common.
struct DecoderContext {
  const Hyperparameters& h;
  WeightStore& weights;
  RopeTable rope, window_rope;
  int64_t capacity = 0;  // positions that the cache holds
  CacheType cache_type = CacheType::kF16;
  bool half_products = false;  // of weights and a symbolic number of rows
};

// The caches of a layer: [kv heads, capacity, size of a head]. Those of kQ8_0 are i8, and have
// scales: [kv heads, capacity, blocks of a head].
std::string KeyCache(int64_t layer);
std::string ValueCache(int64_t layer);
std::string CacheScales(const std::string& cache);

class DecoderGraph {
 public:
  // Tokens are [rows, columns], row-major; the first one's position is variable @position.
  DecoderGraph(const DecoderContext& context, GraphBuilder& g, const Dim& rows, const Dim& columns);

  // The logits of the token that follows token number `last`: [vocabulary]. Null after an error,
  // which the builder or the weights have recorded.
  Value Logits(Value tokens, const Dim& last);
  // The normed states of all tokens, which the logits are computed from: [rows, columns, width].
  // Null as above.
  Value States(Value tokens);

 private:
  // The rows of the embedding table, through all layers.
  Value Layers(Value tokens);
  Value Layer(int64_t layer, Value x);
  Value Attention(int64_t layer, const std::string& prefix, Value x);
  // Writes x, new keys or values of a layer, into the cache and returns all of the cache so far:
  // [kv heads, keys, size].
  Value Cached(const std::string& cache, Value x, int64_t size);
  // Writes the new rows of a buffer of caches, [kv heads, capacity, columns]; returns all rows.
  Value Written(const std::string& buffer, Value rows, Scalar type);
  // Whether the factors of attention's products are halves.
  bool InHalves() const;
  Value Attend(int64_t layer, Value q, Value k, Value v);
  Value FeedForward(const std::string& prefix, Value x);
  Value Experts(const std::string& prefix, Value x);
  Value Activate(Value gate, Value up);

  Value Norm(Value x, const std::string& name, int64_t size);
  // x by a weight [rows, columns], with its bias if the file has one.
  Value Project(Value x, const std::string& name, int64_t rows, int64_t columns);
  Value Rotate(Value x, int64_t layer);
  // Cosines and sines of each token and pair: [rows, columns, 1, pairs].
  struct Angles {
    Value cosines = nullptr, sines = nullptr;
  };
  Angles MakeAngles(const RopeTable& table, int64_t pairs);
  // 0, 1, ... of the tokens behind `first`, in i32: [rows, columns].
  Value Positions();

  const DecoderContext& c_;
  const Hyperparameters& h_;
  GraphBuilder& g_;
  const Dim rows_, columns_, count_;
  const Dim first_;       // position
  const Dim end_;         // position behind the last token
  const Dim key_blocks_;  // blocks of keys before that position
  Angles angles_, window_angles_;
};

}  // namespace tg::gguf

#endif  // TG_FRONTEND_GGUF_DECODER_GRAPH_H_
