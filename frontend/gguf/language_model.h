// Builds the module of a text model from a GGUF file.
//
// Graphs: @prefill reads a chunk of tokens, @decode one token; both write keys and values of these
// positions into the states that cache them, and give the logits of what follows the last token.
//
//   var @position    position of the first token; 0 begins a text
//   var @blocks      @prefill: the number of blocks of kBlockTokens tokens in the chunk
//   var @last        @prefill: the number, in the chunk, of the token whose logits are wanted. What
//   is
//                    behind it pads the last block; later chunks overwrite what it left in the
//                    cache
//   @tokens          i32[@blocks, kBlockTokens], @prefill
//   @token           i32[1, 1], @decode
//   @logits          f32[vocabulary]
#ifndef TG_FRONTEND_GGUF_LANGUAGE_MODEL_H_
#define TG_FRONTEND_GGUF_LANGUAGE_MODEL_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "frontend/gguf/architecture.h"
#include "frontend/gguf/gguf.h"
#include "ir/module.h"

namespace tg::gguf {

struct LanguageModelOptions {
  static constexpr int64_t kBlockTokens = 16;
  // Positions of a text, at most; 0: what the file says, up to kDefaultContext.
  int64_t context = 0;
  static constexpr int64_t kDefaultContext = 4096;
  // The most tokens of a chunk, rounded up to whole blocks. 0: kMaxChunk, or less where the scores
  // of attention would take more than kMaxScoreBytes.
  int64_t chunk = 0;
  static constexpr int64_t kMaxChunk = 512, kMaxScoreBytes = int64_t{1} << 28;
  bool cache_f32 = false;  // keys and values are kept in f16 otherwise
};

struct LanguageModel {
  std::unique_ptr<Module> module;
  Hyperparameters parameters;
  int64_t context = 0;       // positions
  int64_t max_blocks = 0;    // of a chunk
  int64_t weight_bytes = 0;  // that a step reads: of all weights but the rows of an embedding and
                             // the experts that are not chosen
};

// The names of weights' files in the module are the base names of the model's paths, and the
// module's path is the first of them. InvalidArgument in one line: what ReadHyperparameters
// refuses, a tensor that is missing or has another shape, a tensor that the architecture has no use
// for.
absl::StatusOr<LanguageModel> BuildLanguageModel(const Model& model,
                                                 const LanguageModelOptions& options);

}  // namespace tg::gguf

#endif  // TG_FRONTEND_GGUF_LANGUAGE_MODEL_H_
