#include "tools/llm/server_reply.h"

#include <utility>

#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

namespace tg::llm {
namespace {

namespace json = llvm::json;

std::string Text(json::Value value) {
  std::string text;
  llvm::raw_string_ostream(text) << value;
  return text;
}

json::Object ListOf(json::Object object) {
  json::Array list;
  list.push_back(std::move(object));
  return json::Object{{"object", "list"}, {"data", std::move(list)}};
}

json::Object Usage(const ReplyHead& head, const ReplyEnd& end) {
  return json::Object{{"prompt_tokens", head.prompt_tokens},
                      {"completion_tokens", end.tokens},
                      {"total_tokens", head.prompt_tokens + end.tokens}};
}

json::Object Answer(const ReplyHead& head, json::Array choices, bool is_event) {
  const char* kind =
      head.is_chat ? (is_event ? "chat.completion.chunk" : "chat.completion") : "text_completion";
  json::Object answer{{"id", head.id},
                      {"object", kind},
                      {"created", head.created},
                      {"model", head.model},
                      {"choices", std::move(choices)}};
  if (is_event && head.includes_usage) answer["usage"] = nullptr;
  return answer;
}

json::Object Choice() {
  return json::Object{{"index", 0}, {"logprobs", nullptr}, {"finish_reason", nullptr}};
}

const char* FinishReason(const ReplyEnd& end) { return end.is_cut ? "length" : "stop"; }

std::string Event(const ReplyHead& head, json::Object choice) {
  json::Array choices;
  choices.push_back(std::move(choice));
  return Text(Answer(head, std::move(choices), /*is_event=*/true));
}

json::Object TextChoice(const ReplyHead& head, std::string_view text) {
  json::Object choice = Choice();
  const std::string content(text);
  if (head.is_chat) {
    choice["delta"] = json::Object{{"content", content}};
  } else {
    choice["text"] = content;
  }
  return choice;
}

json::Object Model(std::string_view name, int64_t created) {
  return json::Object{{"id", json::fixUTF8(llvm::StringRef(name.data(), name.size()))},
                      {"object", "model"},
                      {"created", created},
                      {"owned_by", "tg"}};
}

}  // namespace

std::string WholeReply(const ReplyHead& head, std::string_view text, const ReplyEnd& end) {
  json::Object choice = Choice();
  const std::string content(text);
  if (head.is_chat) {
    choice["message"] = json::Object{{"role", "assistant"}, {"content", content}};
  } else {
    choice["text"] = content;
  }
  choice["finish_reason"] = FinishReason(end);
  json::Array choices;
  choices.push_back(std::move(choice));
  json::Object answer = Answer(head, std::move(choices), /*is_event=*/false);
  answer["usage"] = Usage(head, end);
  return Text(std::move(answer));
}

std::string FirstEvent(const ReplyHead& head) {
  json::Object choice = TextChoice(head, "");
  if (head.is_chat) choice["delta"] = json::Object{{"role", "assistant"}, {"content", ""}};
  return Event(head, std::move(choice));
}

std::string TextEvent(const ReplyHead& head, std::string_view text) {
  return Event(head, TextChoice(head, text));
}

std::string LastEvent(const ReplyHead& head, const ReplyEnd& end) {
  json::Object choice = TextChoice(head, "");
  choice["finish_reason"] = FinishReason(end);
  return Event(head, std::move(choice));
}

std::string UsageEvent(const ReplyHead& head, const ReplyEnd& end) {
  json::Object answer = Answer(head, {}, /*is_event=*/true);
  answer["usage"] = Usage(head, end);
  return Text(std::move(answer));
}

std::string ModelObject(std::string_view name, int64_t created) {
  return Text(Model(name, created));
}

std::string ModelList(std::string_view name, int64_t created) {
  return Text(ListOf(Model(name, created)));
}

std::string ErrorObject(int status, std::string_view message) {
  constexpr int kInternalError = 500;
  const char* type = status < kInternalError ? "invalid_request_error" : "server_error";
  const std::string text = json::fixUTF8(llvm::StringRef(message.data(), message.size()));
  return Text(json::Object{
      {"error",
       json::Object{{"message", text}, {"type", type}, {"param", nullptr}, {"code", nullptr}}}});
}

}  // namespace tg::llm
