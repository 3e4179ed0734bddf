// Builds the module of a text model from a GGUF file.
//
// Graph @prefill reads a chunk of tokens, graph @few up to kFewTokens, graph @decode one token.
// They write the keys and values of these positions into the states that cache them, and compute
// the logits of the token that follows the last one. A module for embeddings has graph @embed
// instead, which reads a chunk and gives the normed states of its tokens.
//
//   var @position    position of the first token; 0 begins a text
//   var @blocks      @prefill, @embed: the number of blocks of kBlockTokens tokens in the chunk
//   var @last        @prefill: the number, within the chunk, of the token whose logits are wanted;
//                    tokens after it pad the last block, and later chunks overwrite their keys and
//                    values in the cache
//   var @few_last    @few: the same
//   var @long        which factors of the rotary embedding are applied: 1 if the text has more than
//                    LanguageModel::short_context tokens when all that is appended at a time is
//                    counted, else 0. Only in a module with factors for both. All keys in the
//                    caches must have been written with the same value
//   @tokens          i32[@blocks, kBlockTokens], @prefill and @embed
//   @few_tokens      i32[1, kFewTokens], @few
//   @token           i32[1, 1], @decode
//   @logits          f32[vocabulary]
//   @embeddings      f32[@blocks, kBlockTokens, width], @embed
#ifndef TG_FRONTEND_GGUF_LANGUAGE_MODEL_H_
#define TG_FRONTEND_GGUF_LANGUAGE_MODEL_H_

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "frontend/gguf/architecture.h"
#include "frontend/gguf/gguf.h"
#include "ir/module.h"

namespace tg::gguf {

// How keys and values of earlier tokens are kept. kQ8_0: bytes, with a scale in f16 for each block
// of up to 32 neighbours (CacheBlock), as in GGUF's type of this name.
enum class CacheType { kF16, kF32, kQ8_0 };

// Their names as options have them, in the order above, and the type of such a name.
inline const std::vector<std::string> kCacheTypeNames = {"f16", "f32", "q8_0"};
CacheType CacheTypeNamed(std::string_view name);

// The elements of a kQ8_0 block of a head of this size: the greatest power of two that divides it,
// up to 32.
int64_t CacheBlock(int64_t size);

struct LanguageModelOptions {
  static constexpr int64_t kBlockTokens = 16;
  // As many rows as share a weight that a CPU decodes in registers: they take little longer than
  // one.
  static constexpr int64_t kFewTokens = 4;
  // Positions of a text, at most; 0: what the file says, up to kDefaultContext.
  int64_t context = 0;
  static constexpr int64_t kDefaultContext = 4096;
  // The maximum number of tokens in a chunk, rounded up to whole blocks. 0: kMaxChunk, or less if
  // the scores of attention are stored and would take more than kMaxScoreBytes.
  int64_t chunk = 0;
  static constexpr int64_t kMaxChunk = 512, kMaxScoreBytes = int64_t{1} << 28;
  CacheType cache_type = CacheType::kF16;
  // @prefill rounds weights and activations to f16 for their products, which matrix instructions
  // compute.
  bool half_products = false;
  // Whether the device computes attention of a chunk in one kernel, which stores no scores.
  bool fuses_attention = false;
  bool for_embeddings = false;  // the module has @embed, and none of the other graphs
};

struct LanguageModel {
  std::unique_ptr<Module> module;
  Hyperparameters parameters;
  int64_t context = 0;        // positions
  int64_t short_context = 0;  // tokens up to which @long is 0; 0: there is no @long
  int64_t max_blocks = 0;     // of a chunk
  int64_t weight_bytes = 0;   // that a step reads: of all weights but the rows of an embedding and
                              // the experts that are not chosen
};

// The module names the files of weights by the base names of the model's paths, and the module's
// own path is the first of them. Errors are InvalidArgument with one line: the errors of
// ReadHyperparameters, a tensor that is missing or has another shape, or a tensor that the
// architecture does not use.
absl::StatusOr<LanguageModel> BuildLanguageModel(const Model& model,
                                                 const LanguageModelOptions& options);

}  // namespace tg::gguf

#endif  // TG_FRONTEND_GGUF_LANGUAGE_MODEL_H_
