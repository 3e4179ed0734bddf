// What a text model needs besides its graphs, as a .tgx file has it.
#ifndef TG_TOOLS_LLM_COMPILED_TEXT_H_
#define TG_TOOLS_LLM_COMPILED_TEXT_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "frontend/tokenizer/tokenizer.h"

namespace tg::llm {

// The name of the attachment.
inline constexpr char kTextModel[] = "text model";

struct TextModelSizes {
  int64_t vocabulary = 0;
  int64_t context = 0, short_context = 0, max_blocks = 0;  // of gguf::LanguageModel
  int64_t weight_bytes = 0;
};

struct CompiledText {
  TextModelSizes sizes;
  tokenizer::TokenizerData tokenizer;
};

std::string EncodeText(CompiledText text);
// InvalidArgument if the bytes are not complete, or for sizes that no model has.
absl::StatusOr<CompiledText> DecodeText(std::string_view bytes);

}  // namespace tg::llm

#endif  // TG_TOOLS_LLM_COMPILED_TEXT_H_
