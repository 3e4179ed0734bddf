#include "tools/llm/generator.h"

#include <algorithm>
#include <chrono>

#include "base/status.h"
#include "tools/llm/text_stream.h"

namespace tg::llm {
namespace {

class Stopwatch {
 public:
  double Seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace

absl::StatusOr<Reply> Generator::Run(std::span<const tokenizer::TokenId> prompt,
                                     const GenerateOptions& options,
                                     const std::function<void(std::string_view)>& show,
                                     const std::atomic<bool>& interrupt) {
  if (prompt.empty()) return InvalidArgument("the prompt has no token");
  if (static_cast<int64_t>(prompt.size()) > model_.context()) {
    return absl::ResourceExhaustedError(Cat("the prompt has ", prompt.size(),
                                            " tokens, but the context holds ", model_.context(),
                                            "; --ctx sets it"));
  }
  // The last token of the prompt is computed in any case, for its logits.
  const size_t most = std::min(prompt.size() - 1, text_.size());
  const auto common =
      std::mismatch(prompt.begin(), prompt.begin() + static_cast<ptrdiff_t>(most), text_.begin());
  const auto reused = static_cast<size_t>(common.first - prompt.begin());
  text_.resize(reused);
  model_.Truncate(static_cast<int64_t>(reused));

  Reply reply;
  reply.reused_tokens = static_cast<int64_t>(reused);
  reply.prompt_tokens = static_cast<int64_t>(prompt.size() - reused);
  Sampler sampler(options.sampling);
  TextStream stream(options.stops);
  const auto emit = [&](const std::string& shown) {
    reply.text += shown;
    if (!shown.empty()) show(shown);
  };
  const int64_t recomputed = model_.recomputed();
  Stopwatch prompt_time;
  absl::StatusOr<std::span<const float>> logits = model_.Append(prompt.subspan(reused), &interrupt);
  text_.assign(prompt.begin(), prompt.begin() + static_cast<ptrdiff_t>(model_.length()));
  reply.prompt_seconds = prompt_time.Seconds();
  Stopwatch decode_time;
  while (true) {
    if (absl::IsCancelled(logits.status())) {
      reply.end = EndOfReply::kInterrupt;
      break;
    }
    if (!logits.ok()) return logits.status();
    if (reply.tokens == options.max_tokens) {
      reply.end = EndOfReply::kMaxTokens;
      break;
    }
    if (interrupt) {
      reply.end = EndOfReply::kInterrupt;
      break;
    }
    TG_ASSIGN_OR_RETURN(const tokenizer::TokenId token, sampler.Next(*logits, text_));
    if (tokenizer_.IsEndOfGeneration(token)) break;
    ++reply.tokens;
    emit(stream.Add(tokenizer_.Decode(token)));
    if (stream.is_stopped()) {
      reply.end = EndOfReply::kStop;
      break;
    }
    if (model_.length() == model_.context()) {
      reply.end = EndOfReply::kContext;
      break;
    }
    if (reply.tokens == options.max_tokens) continue;  // nobody reads the next logits
    const tokenizer::TokenId next[] = {token};
    logits = model_.Append(next, &interrupt);
    if (logits.ok()) text_.push_back(token);
    text_.resize(static_cast<size_t>(model_.length()));  // an interrupt leaves a part of the text
    ++reply.decode_steps;
  }
  reply.recomputed_tokens = model_.recomputed() - recomputed;
  reply.decode_seconds = decode_time.Seconds();
  emit(stream.Finish());
  return reply;
}

}  // namespace tg::llm
