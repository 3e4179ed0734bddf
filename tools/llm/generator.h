// Continues a text, token by token.
#ifndef TG_TOOLS_LLM_GENERATOR_H_
#define TG_TOOLS_LLM_GENERATOR_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "frontend/tokenizer/tokenizer.h"
#include "tools/llm/sampler.h"
#include "tools/llm/text_model.h"

namespace tg::llm {

struct GenerateOptions {
  SamplerOptions sampling;
  int64_t max_tokens = -1;         // negative: until the model ends, or the context is full
  std::vector<std::string> stops;  // texts that end the reply, and are no part of it
};

enum class EndOfReply : uint8_t { kModel, kStop, kMaxTokens, kContext, kInterrupt };

struct Reply {
  std::string text;
  EndOfReply end = EndOfReply::kModel;
  // Tokens of the prompt that were computed (others were in the cache), and of the reply.
  int64_t prompt_tokens = 0, reused_tokens = 0, tokens = 0;
  double prompt_seconds = 0;  // until the logits of the first token
  double decode_seconds = 0;  // of the steps behind it
  int64_t decode_steps = 0;
  int64_t recomputed_tokens = 0;  // computed again because the text passed a length (TextModel)
};

class Generator {
 public:
  Generator(TextModel& model, const tokenizer::Tokenizer& tokenizer)
      : model_(model), tokenizer_(tokenizer) {}

  // Replies to a prompt. The part that the prompt has in common with the text so far, from the
  // beginning, is not computed again. Calls `show` with pieces of the reply as they are generated.
  // `interrupt` ends the reply, between two tokens or two chunks of the prompt. Returns
  // ResourceExhausted if the prompt does not fit the context.
  absl::StatusOr<Reply> Run(std::span<const tokenizer::TokenId> prompt,
                            const GenerateOptions& options,
                            const std::function<void(std::string_view)>& show,
                            const std::atomic<bool>& interrupt);

 private:
  TextModel& model_;
  const tokenizer::Tokenizer& tokenizer_;
  std::vector<tokenizer::TokenId> text_;  // tokens whose keys and values are in the cache
};

}  // namespace tg::llm

#endif  // TG_TOOLS_LLM_GENERATOR_H_
