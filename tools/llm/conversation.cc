#include "tools/llm/conversation.h"

#include "base/status.h"

namespace tg::llm {

absl::StatusOr<std::vector<tokenizer::TokenId>> Conversation::Prompt() const {
  if (!chat_) {
    std::string text;
    for (const tokenizer::ChatMessage& message : messages_) text += message.content;
    return tokenizer_.Encode(text, {.parse_special = true, .add_special = true});
  }
  tokenizer::ChatOptions options;
  const auto spelling = [&](std::optional<tokenizer::TokenId> token) {
    return token ? std::string(tokenizer_.Spelling(*token)) : std::string();
  };
  options.bos_token = spelling(tokenizer_.bos());
  options.eos_token = spelling(tokenizer_.eos());
  TG_ASSIGN_OR_RETURN(const std::string text, chat_->Render(messages_, options));
  std::vector<tokenizer::TokenId> tokens = tokenizer_.Encode(text, /*parse_special=*/true);
  // Some templates write the token that begins a text, others leave it to the tokenizer.
  const std::optional<tokenizer::TokenId> bos = tokenizer_.bos();
  if (tokenizer_.adds_bos() && bos && (tokens.empty() || tokens[0] != *bos)) {
    tokens.insert(tokens.begin(), *bos);
  }
  return tokens;
}

}  // namespace tg::llm
