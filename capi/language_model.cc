#include "capi/language_model.h"

#include <algorithm>
#include <utility>

#include "base/status.h"
#include "frontend/gguf/language_model.h"
#include "tools/llm/conversation.h"
#include "tools/llm/tokenizer_data.h"

namespace tg::capi {
namespace {

// The caller's progress function, while a model is opened.
struct Loading {
  explicit Loading(const tg_lm_options& o) : function(o.progress), context(o.progress_context) {}

  absl::Status Tell(const char* step, double done) {
    if (function == nullptr || function(context, step, done) == 0) return absl::OkStatus();
    is_cancelled = true;
    return absl::CancelledError(Cat("cancelled at step ", step));
  }

  const tg_progress function;
  void* const context;
  bool is_cancelled = false, is_open = false;
};

}  // namespace

LanguageModel::Call::Call(LanguageModel& model)
    : model_(model), is_nested_(model.caller_ == std::this_thread::get_id()) {
  if (is_nested_) return;
  model_.mutex_.lock();
  model_.caller_ = std::this_thread::get_id();
}

LanguageModel::Call::~Call() {
  if (is_nested_) return;
  model_.caller_ = std::thread::id();
  model_.mutex_.unlock();
}

absl::Status LanguageModel::Call::status() const {
  if (!is_nested_) return absl::OkStatus();
  return absl::FailedPreconditionError(
      "the model generates a reply, and this is its function show");
}

absl::Status LanguageModel::LoadTokenizer() {
  const std::string& path = file_->model().paths[0];
  TG_ASSIGN_OR_RETURN(tokenizer::TokenizerData data, llm::TokenizerDataOf(file_->model()));
  const std::string chat = data.chat_template;
  absl::StatusOr<std::unique_ptr<tokenizer::Tokenizer>> made =
      tokenizer::MakeTokenizer(std::move(data));
  if (!made.ok()) return InvalidArgument(path, ": ", std::string(made.status().message()));
  tokenizer_ = *std::move(made);
  if (chat.empty()) return absl::OkStatus();
  absl::StatusOr<tokenizer::ChatTemplate> parsed = tokenizer::ChatTemplate::Parse(chat);
  if (!parsed.ok()) {
    return InvalidArgument(
        path, ": key 'tokenizer.chat_template': ", std::string(parsed.status().message()));
  }
  chat_ = *std::move(parsed);
  return absl::OkStatus();
}

absl::StatusOr<std::shared_ptr<LanguageModel>> LanguageModel::Open(const char* path,
                                                                   const tg_lm_options& options) {
  if (path == nullptr || *path == '\0') return InvalidArgument("no path is given");
  if (options.context < 0 || options.chunk < 0) {
    return InvalidArgument("a context of ", options.context, " tokens and chunks of ",
                           options.chunk);
  }
  // The session keeps its function for uploads, which are also those of later steps.
  const auto loading = std::make_shared<Loading>(options);
  TG_RETURN_IF_ERROR(loading->Tell("read", 0));
  std::shared_ptr<LanguageModel> lm(new LanguageModel);
  TG_ASSIGN_OR_RETURN(lm->file_, llm::ModelFile::Open(path));
  // An unknown architecture is told before errors about the vocabulary.
  TG_RETURN_IF_ERROR(gguf::ReadHyperparameters(lm->file_->model()).status());
  TG_RETURN_IF_ERROR(lm->LoadTokenizer());
  TG_RETURN_IF_ERROR(loading->Tell("compile", 0));
  llm::TextModelOptions how;
  how.model.context = options.context;
  how.model.chunk = options.chunk;
  if (options.cache_f32 != 0) how.model.cache_type = gguf::CacheType::kF32;
  how.model.for_embeddings = options.embeddings != 0;
  if (options.device != nullptr) how.device = options.device;
  how.has_workers = false;
  how.on_uploaded = [loading](size_t done, size_t total) {
    // Uploads go on to their end: a function that cancels is not called again.
    if (loading->is_open || loading->is_cancelled || total == 0) return;
    (void)loading->Tell("weights", static_cast<double>(done) / static_cast<double>(total));
  };
  TG_ASSIGN_OR_RETURN(lm->model_, llm::TextModel::Open(*lm->file_, how));
  TG_RETURN_IF_ERROR(lm->model_->Prepare());
  loading->is_open = true;
  if (loading->is_cancelled) return absl::CancelledError("cancelled at step weights");
  if (static_cast<int64_t>(lm->tokenizer_->size()) != lm->model_->vocabulary()) {
    return InvalidArgument(path, ": ", lm->tokenizer_->size(), " tokens, but an embedding of ",
                           lm->model_->vocabulary());
  }
  if (options.embeddings == 0) {
    lm->generator_ = std::make_unique<llm::Generator>(*lm->model_, *lm->tokenizer_);
  }
  TG_RETURN_IF_ERROR(loading->Tell("open", 1));
  return lm;
}

absl::StatusOr<tg_lm_info> LanguageModel::Info() {
  const Call call(*this);
  TG_RETURN_IF_ERROR(call.status());
  return tg_lm_info{.size = 0,
                    .context = model_->context(),
                    .vocabulary = model_->vocabulary(),
                    .length = model_->length(),
                    .weight_bytes = model_->weight_bytes(),
                    .has_chat_template = chat_.has_value() ? 1 : 0,
                    .pooling = static_cast<int32_t>(model_->pooling()),
                    .embedding_width = model_->width()};
}

absl::Status LanguageModel::CheckIsForTexts() const {
  if (generator_ != nullptr) return absl::OkStatus();
  return absl::FailedPreconditionError("the model was opened for embeddings");
}

absl::Status LanguageModel::Embed(std::string_view text, const llm::EmbeddingOptions& options,
                                  std::span<float> embedding) {
  const Call call(*this);
  TG_RETURN_IF_ERROR(call.status());
  if (static_cast<int64_t>(embedding.size()) != model_->width()) {
    return InvalidArgument("memory for ", embedding.size(), " floats, of ", model_->width());
  }
  TG_ASSIGN_OR_RETURN(const std::vector<float> computed,
                      model_->Embed(Tokenize(text, /*special=*/true), options));
  std::copy(computed.begin(), computed.end(), embedding.begin());
  return absl::OkStatus();
}

std::vector<int32_t> LanguageModel::Tokenize(std::string_view text, bool special) const {
  return tokenizer_->Encode(text, {.parse_special = special, .add_special = special});
}

absl::StatusOr<std::string> LanguageModel::Detokenize(std::span<const int32_t> tokens) const {
  const auto size = static_cast<int32_t>(tokenizer_->size());
  for (const int32_t token : tokens) {
    if (token < 0 || token >= size) {
      return InvalidArgument("token ", token, " is outside of the vocabulary of ", size);
    }
  }
  return tokenizer_->DecodeAll(tokens);
}

absl::Status LanguageModel::Append(std::span<const int32_t> tokens, std::span<float> logits) {
  const Call call(*this);
  TG_RETURN_IF_ERROR(call.status());
  TG_RETURN_IF_ERROR(CheckIsForTexts());
  if (!logits.empty() && static_cast<int64_t>(logits.size()) != model_->vocabulary()) {
    return InvalidArgument("memory for ", logits.size(), " logits, of ", model_->vocabulary());
  }
  // The generator knows nothing of these tokens: it computes its next prompt from the beginning.
  generator_ = std::make_unique<llm::Generator>(*model_, *tokenizer_);
  TG_ASSIGN_OR_RETURN(const std::span<const float> computed, model_->Append(tokens));
  if (!logits.empty()) std::copy(computed.begin(), computed.end(), logits.begin());
  return absl::OkStatus();
}

absl::Status LanguageModel::Truncate(int64_t length) {
  const Call call(*this);
  TG_RETURN_IF_ERROR(call.status());
  TG_RETURN_IF_ERROR(CheckIsForTexts());
  if (length < 0) return InvalidArgument("a text of ", length, " tokens");
  generator_ = std::make_unique<llm::Generator>(*model_, *tokenizer_);
  model_->Truncate(length);
  return absl::OkStatus();
}

absl::StatusOr<llm::Reply> LanguageModel::Generate(
    std::string_view prompt, std::span<const tokenizer::ChatMessage> messages,
    const llm::GenerateOptions& options, const std::function<bool(std::string_view)>& show) {
  const Call call(*this);
  TG_RETURN_IF_ERROR(call.status());
  TG_RETURN_IF_ERROR(CheckIsForTexts());
  std::vector<tokenizer::TokenId> tokens;
  if (messages.empty()) {
    tokens = Tokenize(prompt, /*special=*/true);
  } else {
    llm::Conversation conversation(*tokenizer_, chat_);
    for (const tokenizer::ChatMessage& m : messages) conversation.Add(m.role, m.content);
    TG_ASSIGN_OR_RETURN(tokens, conversation.Prompt());
  }
  {
    const std::lock_guard lock(cancel_mutex_);
    is_generating_ = true;
    interrupt_ = false;
  }
  absl::StatusOr<llm::Reply> reply = generator_->Run(
      tokens, options,
      [&](std::string_view piece) {
        if (!show(piece)) interrupt_ = true;
      },
      interrupt_);
  const std::lock_guard lock(cancel_mutex_);
  is_generating_ = false;
  return reply;
}

void LanguageModel::Cancel() {
  const std::lock_guard lock(cancel_mutex_);
  if (is_generating_) interrupt_ = true;
}

}  // namespace tg::capi
