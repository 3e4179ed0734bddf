// A file's vocabulary, as the tokenizer takes it.
#ifndef TG_TOOLS_LLM_TOKENIZER_DATA_H_
#define TG_TOOLS_LLM_TOKENIZER_DATA_H_

#include "absl/status/statusor.h"
#include "frontend/gguf/gguf.h"
#include "frontend/tokenizer/tokenizer.h"

namespace tg::llm {

// InvalidArgument, with the path and the key, for a value of another type than the key has.
absl::StatusOr<tokenizer::TokenizerData> TokenizerDataOf(const gguf::Model& model);

}  // namespace tg::llm

#endif  // TG_TOOLS_LLM_TOKENIZER_DATA_H_
