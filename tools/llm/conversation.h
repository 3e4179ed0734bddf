// The turns of a chat, as the tokens that a model takes.
#ifndef TG_TOOLS_LLM_CONVERSATION_H_
#define TG_TOOLS_LLM_CONVERSATION_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "frontend/tokenizer/chat_template.h"
#include "frontend/tokenizer/tokenizer.h"

namespace tg::llm {

class Conversation {
 public:
  // Without a template a prompt is the texts of all turns, one after the other.
  Conversation(const tokenizer::Tokenizer& tokenizer, std::optional<tokenizer::ChatTemplate> chat)
      : tokenizer_(tokenizer), chat_(std::move(chat)) {}

  // `role`: "system", "user" or "assistant".
  void Add(std::string role, std::string content) {
    messages_.push_back({std::move(role), std::move(content)});
  }
  void RemoveLast() { messages_.pop_back(); }
  // The tokens of all turns, up to the beginning of the assistant's next. An error of the template.
  absl::StatusOr<std::vector<tokenizer::TokenId>> Prompt() const;

 private:
  const tokenizer::Tokenizer& tokenizer_;
  const std::optional<tokenizer::ChatTemplate> chat_;
  std::vector<tokenizer::ChatMessage> messages_;
};

}  // namespace tg::llm

#endif  // TG_TOOLS_LLM_CONVERSATION_H_
