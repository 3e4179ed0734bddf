// The functions of tg.h for language models.
#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/status.h"
#include "capi/calls.h"
#include "capi/language_model.h"
#include "capi/structs.h"
#include "include/tg/tg.h"

namespace tg::capi {
namespace {

// Calls f with the model behind a handle.
template <typename F>
tg_status WithLanguageModel(tg_lm handle, F&& f) {
  const std::shared_ptr<LanguageModel> lm = LanguageModels().Find(handle.id);
  if (lm == nullptr) return BadHandle("tg_lm");
  return Return(f(*lm));
}

absl::Status OpenLanguageModel(const char* path, const tg_lm_options* given, tg_lm* out) {
  if (out == nullptr) return IsNull("lm");
  tg_lm_options options;
  TG_RETURN_IF_ERROR(ReadStruct(given, "tg_lm_options", options));
  TG_ASSIGN_OR_RETURN(std::shared_ptr<LanguageModel> lm, LanguageModel::Open(path, options));
  out->id = LanguageModels().Add(std::move(lm));
  return absl::OkStatus();
}

absl::StatusOr<llm::GenerateOptions> OptionsOf(const tg_generate_options& o) {
  llm::GenerateOptions options;
  if (o.max_tokens < 0) return InvalidArgument("a reply of ", o.max_tokens, " tokens");
  if (o.max_tokens > 0) options.max_tokens = o.max_tokens;
  llm::SamplerOptions& s = options.sampling;
  // A comparison with a value that is no number is false.
  if (!(o.temperature >= 0)) return InvalidArgument("the temperature is not at least 0");
  if (!(o.top_p >= 0 && o.top_p <= 1)) return InvalidArgument("top_p is not between 0 and 1");
  if (!(o.min_p <= 1)) return InvalidArgument("min_p is not at most 1");
  if (!(o.repeat_penalty >= 0)) return InvalidArgument("repeat_penalty is not at least 0");
  s.temperature = o.temperature;
  if (o.top_k != 0) s.top_k = o.top_k < 0 ? 0 : o.top_k;
  if (o.top_p > 0) s.top_p = o.top_p;
  if (o.min_p != 0) s.min_p = o.min_p < 0 ? 0 : o.min_p;
  if (o.repeat_penalty > 0) s.repeat_penalty = o.repeat_penalty;
  if (o.repeat_window > 0) s.repeat_window = o.repeat_window;
  s.seed = o.seed;
  if (o.num_stops > 0 && o.stops == nullptr) return IsNull("stops");
  for (size_t i = 0; i < o.num_stops; ++i) {
    if (o.stops[i] == nullptr) return InvalidArgument("stop ", i, " is null");
    options.stops.emplace_back(o.stops[i]);
  }
  return options;
}

absl::StatusOr<std::vector<tokenizer::ChatMessage>> MessagesOf(const tg_message* messages,
                                                               size_t count) {
  if (count == 0) return InvalidArgument("a conversation without a message");
  if (messages == nullptr) return IsNull("messages");
  const size_t stride = messages->size;
  TG_RETURN_IF_ERROR(CheckSize(stride, "tg_message"));
  std::vector<tokenizer::ChatMessage> all;
  for (size_t i = 0; i < count; ++i) {
    tg_message m;
    TG_RETURN_IF_ERROR(ReadStruct(
        reinterpret_cast<const tg_message*>(reinterpret_cast<const char*>(messages) + i * stride),
        "tg_message", m));
    if (m.size != stride)
      return InvalidArgument("messages have the sizes ", stride, " and ", m.size);
    if (m.role == nullptr || m.content == nullptr) {
      return InvalidArgument("role or content of message ", i, " is null");
    }
    all.push_back({m.role, m.content});
  }
  return all;
}

absl::Status Generate(LanguageModel& lm, std::string_view prompt,
                      const std::vector<tokenizer::ChatMessage>& messages,
                      const tg_generate_options* given, tg_text* text, tg_reply* reply) {
  if (text == nullptr) return IsNull("text");
  if (reply != nullptr) TG_RETURN_IF_ERROR(CheckSize(reply->size, "tg_reply"));
  tg_generate_options o;
  TG_RETURN_IF_ERROR(ReadStruct(given, "tg_generate_options", o));
  TG_ASSIGN_OR_RETURN(const llm::GenerateOptions options, OptionsOf(o));
  TG_ASSIGN_OR_RETURN(
      llm::Reply made, lm.Generate(prompt, messages, options, [&o](std::string_view piece) {
        return o.show == nullptr ||
               o.show(o.show_context, std::string(piece).c_str(), piece.size()) == 0;
      }));
  if (reply != nullptr) {
    const tg_reply told = {.size = 0,
                           .end = static_cast<int32_t>(made.end),
                           .prompt_tokens = made.prompt_tokens,
                           .reused_tokens = made.reused_tokens,
                           .tokens = made.tokens,
                           .prompt_seconds = made.prompt_seconds,
                           .decode_seconds = made.decode_seconds};
    TG_RETURN_IF_ERROR(WriteStruct(told, "tg_reply", reply));
  }
  return StoreText(std::move(made.text), text);
}

absl::StatusOr<llm::EmbeddingOptions> EmbeddingOptionsOf(const tg_embed_options* given) {
  tg_embed_options o;
  TG_RETURN_IF_ERROR(ReadStruct(given, "tg_embed_options", o));
  if (o.pooling < TG_POOLING_DEFAULT || o.pooling > TG_POOLING_LAST) {
    return InvalidArgument("a pooling of ", o.pooling);
  }
  return llm::EmbeddingOptions{.pooling = static_cast<gguf::Pooling>(o.pooling),
                               .normalizes = o.raw == 0};
}

static_assert(static_cast<int>(gguf::Pooling::kMean) == TG_POOLING_MEAN);
static_assert(static_cast<int>(gguf::Pooling::kFirst) == TG_POOLING_FIRST);
static_assert(static_cast<int>(gguf::Pooling::kLast) == TG_POOLING_LAST);
static_assert(static_cast<int>(llm::EndOfReply::kModel) == TG_END_MODEL);
static_assert(static_cast<int>(llm::EndOfReply::kStop) == TG_END_STOP);
static_assert(static_cast<int>(llm::EndOfReply::kMaxTokens) == TG_END_MAX_TOKENS);
static_assert(static_cast<int>(llm::EndOfReply::kContext) == TG_END_CONTEXT);
static_assert(static_cast<int>(llm::EndOfReply::kInterrupt) == TG_END_CANCELLED);

}  // namespace
}  // namespace tg::capi

extern "C" {

tg_status tg_lm_open(const char* path, const tg_lm_options* options, tg_lm* lm) {
  return tg::capi::Return(tg::capi::OpenLanguageModel(path, options, lm));
}

tg_status tg_lm_close(tg_lm handle) {
  if (tg::capi::LanguageModels().Remove(handle.id) == nullptr) return tg::capi::BadHandle("tg_lm");
  return tg::capi::Return(absl::OkStatus());
}

tg_status tg_lm_get_info(tg_lm handle, tg_lm_info* info) {
  return tg::capi::WithLanguageModel(handle, [&](tg::capi::LanguageModel& lm) {
    const absl::StatusOr<tg_lm_info> read = lm.Info();
    return read.ok() ? tg::capi::WriteStruct(*read, "tg_lm_info", info) : read.status();
  });
}

tg_status tg_lm_tokenize(tg_lm handle, const char* text, size_t bytes, int32_t special,
                         int32_t* tokens, size_t* count) {
  return tg::capi::WithLanguageModel(handle, [&](tg::capi::LanguageModel& lm) -> absl::Status {
    if (text == nullptr && bytes > 0) return tg::capi::IsNull("text");
    if (count == nullptr) return tg::capi::IsNull("count");
    if (tokens == nullptr && *count > 0) return tg::capi::IsNull("tokens");
    const std::vector<int32_t> found = lm.Tokenize({text, bytes}, special != 0);
    const size_t capacity = std::exchange(*count, found.size());
    if (found.size() > capacity) {
      return absl::ResourceExhaustedError(tg::Cat(
          "the text has ", found.size(), " tokens, and memory for ", capacity, " is given"));
    }
    std::copy(found.begin(), found.end(), tokens);
    return absl::OkStatus();
  });
}

tg_status tg_lm_detokenize(tg_lm handle, const int32_t* tokens, size_t count, tg_text* text) {
  return tg::capi::WithLanguageModel(handle, [&](tg::capi::LanguageModel& lm) {
    if (text == nullptr) return tg::capi::IsNull("text");
    if (tokens == nullptr && count > 0) return tg::capi::IsNull("tokens");
    return tg::capi::StoreText(lm.Detokenize({tokens, count}), text);
  });
}

tg_status tg_lm_append(tg_lm handle, const int32_t* tokens, size_t count, float* logits,
                       size_t num_logits) {
  return tg::capi::WithLanguageModel(handle, [&](tg::capi::LanguageModel& lm) {
    if (tokens == nullptr) return tg::capi::IsNull("tokens");
    if (logits != nullptr && num_logits == 0) return tg::InvalidArgument("memory for no logits");
    return lm.Append({tokens, count}, {logits, logits == nullptr ? 0 : num_logits});
  });
}

tg_status tg_lm_truncate(tg_lm handle, int64_t length) {
  return tg::capi::WithLanguageModel(
      handle, [&](tg::capi::LanguageModel& lm) { return lm.Truncate(length); });
}

tg_status tg_lm_generate(tg_lm handle, const char* prompt, size_t bytes,
                         const tg_generate_options* options, tg_text* text, tg_reply* reply) {
  return tg::capi::WithLanguageModel(handle, [&](tg::capi::LanguageModel& lm) {
    if (prompt == nullptr) return tg::capi::IsNull("prompt");
    return tg::capi::Generate(lm, {prompt, bytes}, {}, options, text, reply);
  });
}

tg_status tg_lm_chat(tg_lm handle, const tg_message* messages, size_t num_messages,
                     const tg_generate_options* options, tg_text* text, tg_reply* reply) {
  return tg::capi::WithLanguageModel(handle, [&](tg::capi::LanguageModel& lm) {
    const auto read = tg::capi::MessagesOf(messages, num_messages);
    if (!read.ok()) return read.status();
    return tg::capi::Generate(lm, "", *read, options, text, reply);
  });
}

tg_status tg_lm_embed(tg_lm handle, const char* text, size_t bytes, const tg_embed_options* options,
                      float* embedding, size_t count) {
  return tg::capi::WithLanguageModel(handle, [&](tg::capi::LanguageModel& lm) {
    if (text == nullptr && bytes > 0) return tg::capi::IsNull("text");
    if (embedding == nullptr) return tg::capi::IsNull("embedding");
    const absl::StatusOr<tg::llm::EmbeddingOptions> how = tg::capi::EmbeddingOptionsOf(options);
    if (!how.ok()) return how.status();
    return lm.Embed({text, bytes}, *how, {embedding, count});
  });
}

tg_status tg_lm_cancel(tg_lm handle) {
  return tg::capi::WithLanguageModel(handle, [&](tg::capi::LanguageModel& lm) {
    lm.Cancel();
    return absl::OkStatus();
  });
}

}  // extern "C"
