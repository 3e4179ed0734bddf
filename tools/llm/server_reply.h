// The JSON of the server's answers, in the form that OpenAI's clients read.
#ifndef TG_TOOLS_LLM_SERVER_REPLY_H_
#define TG_TOOLS_LLM_SERVER_REPLY_H_

#include <cstdint>
#include <string>
#include <string_view>

namespace tg::llm {

// What the answers to one request have in common.
struct ReplyHead {
  bool is_chat = false;
  bool includes_usage = false;  // a stream ends with the numbers of tokens
  std::string id, model;
  int64_t created = 0;  // seconds since 1970
  int64_t prompt_tokens = 0;
};

// How a reply ended.
struct ReplyEnd {
  bool is_cut = false;  // by a limit of tokens
  int64_t tokens = 0;
};

// A whole answer. Texts are valid UTF-8.
std::string WholeReply(const ReplyHead& head, std::string_view text, const ReplyEnd& end);

// The events of a stream: the first has the role, and no text.
std::string FirstEvent(const ReplyHead& head);
std::string TextEvent(const ReplyHead& head, std::string_view text);
std::string LastEvent(const ReplyHead& head, const ReplyEnd& end);
std::string UsageEvent(const ReplyHead& head, const ReplyEnd& end);

// The only model, and a list of it.
std::string ModelObject(std::string_view name, int64_t created);
std::string ModelList(std::string_view name, int64_t created);

// Statuses below 500 blame the request.
std::string ErrorObject(int status, std::string_view message);

}  // namespace tg::llm

#endif  // TG_TOOLS_LLM_SERVER_REPLY_H_
