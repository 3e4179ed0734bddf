// The prompt of a conversation, written by the Jinja template that a GGUF file carries.
#ifndef TG_FRONTEND_TOKENIZER_CHAT_TEMPLATE_H_
#define TG_FRONTEND_TOKENIZER_CHAT_TEMPLATE_H_

#include <ctime>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace tg::jinja {
class Program;
}  // namespace tg::jinja

namespace tg::tokenizer {

struct ChatMessage {
  std::string role;  // "system", "user" or "assistant"; the template decides what it takes
  std::string content;
};

struct ChatOptions {
  // Ends the prompt with the opening of the assistant's turn.
  bool add_generation_prompt = true;
  // The spellings of the vocabulary's tokens, which templates write themselves.
  std::string bos_token;
  std::string eos_token;
  // What a template writes as the current time; the clock's if absent.
  std::optional<std::time_t> now;
};

// Immutable; several threads may render one at the same time.
class ChatTemplate {
 public:
  // Returns InvalidArgument, with line and column, if the text is not a template or uses a feature
  // of Jinja that this reader lacks.
  static absl::StatusOr<ChatTemplate> Parse(std::string_view text);
  // The template of turns between <|im_start|> and <|im_end|>, for models whose file has none.
  static const ChatTemplate& ChatMl();

  // Returns InvalidArgument if the template refuses the conversation (raise_exception), with the
  // template's message, or if its evaluation fails, with line and column. Time and memory are
  // bounded: a template that loops for too long is an error too.
  absl::StatusOr<std::string> Render(std::span<const ChatMessage> messages,
                                     const ChatOptions& options) const;

 private:
  explicit ChatTemplate(std::shared_ptr<const jinja::Program> program);
  std::shared_ptr<const jinja::Program> program_;
};

}  // namespace tg::tokenizer

#endif  // TG_FRONTEND_TOKENIZER_CHAT_TEMPLATE_H_
