#include "frontend/tokenizer/chat_template.h"

#include <utility>

#include "base/check.h"
#include "frontend/tokenizer/jinja/program.h"

namespace tg::tokenizer {
namespace {

using jinja::Dict;
using jinja::List;
using jinja::Value;

constexpr std::string_view kChatMl =
    "{% for message in messages %}"
    "{{ '<|im_start|>' + message['role'] + '\\n' + message['content'] + '<|im_end|>' + '\\n' }}"
    "{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}";

Value MakeMessage(const ChatMessage& message) {
  return Value::Of(Dict{{Value::String("role"), Value::String(message.role)},
                        {Value::String("content"), Value::String(message.content)}});
}

}  // namespace

ChatTemplate::ChatTemplate(std::shared_ptr<const jinja::Program> program)
    : program_(std::move(program)) {}

absl::StatusOr<ChatTemplate> ChatTemplate::Parse(std::string_view text) {
  auto program = jinja::Program::Parse(text);
  if (!program.ok()) return program.status();
  return ChatTemplate(*std::move(program));
}

const ChatTemplate& ChatTemplate::ChatMl() {
  static const ChatTemplate& chat_ml = *[] {
    auto parsed = Parse(kChatMl);
    TG_CHECK(parsed.ok());
    return new ChatTemplate(*std::move(parsed));
  }();
  return chat_ml;
}

absl::StatusOr<std::string> ChatTemplate::Render(std::span<const ChatMessage> messages,
                                                 const ChatOptions& options) const {
  List list;
  for (const ChatMessage& message : messages) list.push_back(MakeMessage(message));
  Value conversation = Value::Of(std::move(list));
  if (conversation.is(jinja::Kind::kUndefined)) {
    return absl::InvalidArgumentError("the conversation is too long");
  }
  const Value variables = Value::Of(
      Dict{{Value::String("messages"), std::move(conversation)},
           {Value::String("add_generation_prompt"), Value::Bool(options.add_generation_prompt)},
           {Value::String("bos_token"), Value::String(options.bos_token)},
           {Value::String("eos_token"), Value::String(options.eos_token)},
           {Value::String("tools"), Value::None()},
           {Value::String("documents"), Value::None()}});
  return program_->Render(variables, options.now.value_or(std::time(nullptr)));
}

}  // namespace tg::tokenizer
