// LlmRun: the steps of tg-llm on a model.
#ifndef TG_TOOLS_LLM_LLM_RUN_H_
#define TG_TOOLS_LLM_LLM_RUN_H_

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "frontend/tokenizer/chat_template.h"
#include "frontend/tokenizer/tokenizer.h"
#include "tools/driver/tune_child.h"
#include "tools/llm/generator.h"
#include "tools/llm/llm_flags.h"
#include "tools/llm/model_file.h"
#include "tools/llm/text_model.h"

namespace tg::llm {

class LlmRun {
 public:
  LlmRun(const LlmFlags& flags, GenerateOptions options)
      : flags_(flags), options_(std::move(options)) {}

  // Answers the prompt, chats, or measures. Only text of the model goes to standard output.
  absl::Status Run(const std::string& path);

 private:
  absl::Status Load(const std::string& path);
  // `path` is for messages.
  absl::Status LoadTokenizer(tokenizer::TokenizerData data, const std::string& path);
  absl::Status OpenModel(const std::string& path, const TextModelOptions& options);
  // --search.
  absl::StatusOr<std::unique_ptr<driver::FoundSchedules>> Search(
      const TextModelOptions& options) const;
  absl::Status OpenCompiled(const std::string& path, const TextModelOptions& options);
  absl::StatusOr<std::string> ReadPrompt() const;
  absl::Status Answer(const std::string& prompt);
  absl::Status Chat();
  absl::Status ServeModel(const std::string& path);
  // A reply to these tokens, printed as it is generated. A full context is reported, but is not an
  // error.
  absl::StatusOr<Reply> Print(const std::vector<tokenizer::TokenId>& prompt);
  void Summarize(const Reply& reply, bool is_first_reply) const;
  // The kernels of the graph that ran last, with their times, where --verbose wants them.
  void TellKernels() const;

  const LlmFlags& flags_;
  const GenerateOptions options_;
  std::unique_ptr<ModelFile> file_;
  std::unique_ptr<TextModel> model_;
  std::unique_ptr<tokenizer::Tokenizer> tokenizer_;
  std::optional<tokenizer::ChatTemplate> chat_;
  std::unique_ptr<Generator> generator_;
  double load_seconds_ = 0;
};

}  // namespace tg::llm

#endif  // TG_TOOLS_LLM_LLM_RUN_H_
