// LanguageModel: what a tg_lm handle is.
#ifndef TG_CAPI_LANGUAGE_MODEL_H_
#define TG_CAPI_LANGUAGE_MODEL_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "frontend/tokenizer/chat_template.h"
#include "frontend/tokenizer/tokenizer.h"
#include "include/tg/tg.h"
#include "tools/llm/generator.h"
#include "tools/llm/model_file.h"
#include "tools/llm/text_model.h"

namespace tg::capi {

class LanguageModel {
 public:
  static absl::StatusOr<std::shared_ptr<LanguageModel>> Open(const char* path,
                                                             const tg_lm_options& options);

  absl::StatusOr<tg_lm_info> Info();
  // These two need no lock.
  std::vector<int32_t> Tokenize(std::string_view text, bool special) const;
  absl::StatusOr<std::string> Detokenize(std::span<const int32_t> tokens) const;

  absl::Status Append(std::span<const int32_t> tokens, std::span<float> logits);
  absl::Status Truncate(int64_t length);
  // With messages, `prompt` is not read.
  absl::StatusOr<llm::Reply> Generate(std::string_view prompt,
                                      std::span<const tokenizer::ChatMessage> messages,
                                      const llm::GenerateOptions& options,
                                      const std::function<bool(std::string_view)>& show);
  absl::Status Embed(std::string_view text, const llm::EmbeddingOptions& options,
                     std::span<float> embedding);
  void Cancel();

 private:
  // Holds the lock of a call; an error if the thread is in a call already: in `show`.
  class Call {
   public:
    explicit Call(LanguageModel& model);
    ~Call();
    Call(const Call&) = delete;
    Call& operator=(const Call&) = delete;
    absl::Status status() const;

   private:
    LanguageModel& model_;
    const bool is_nested_;
  };

  LanguageModel() = default;
  absl::Status LoadTokenizer();
  // An error for a model that is for embeddings.
  absl::Status CheckIsForTexts() const;

  std::unique_ptr<llm::ModelFile> file_;
  std::unique_ptr<tokenizer::Tokenizer> tokenizer_;
  std::optional<tokenizer::ChatTemplate> chat_;

  std::mutex mutex_;  // guards the following two
  std::unique_ptr<llm::TextModel> model_;
  std::unique_ptr<llm::Generator> generator_;  // null: the model is for embeddings
  std::atomic<std::thread::id> caller_;        // who holds mutex_

  std::mutex cancel_mutex_;  // guards is_generating_, and the setting of interrupt_
  bool is_generating_ = false;
  std::atomic<bool> interrupt_ = false;
};

}  // namespace tg::capi

#endif  // TG_CAPI_LANGUAGE_MODEL_H_
