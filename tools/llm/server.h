// The HTTP interface of tg-llm: chats and completions as OpenAI's clients ask for them.
//
//   GET  /health                 {"status": "ok"}
//   GET  /v1/models              the model, in a list
//   GET  /v1/models/NAME         the model
//   POST /v1/chat/completions    a reply to messages
//   POST /v1/completions         a text that is continued
//
// One request runs at a time; others wait in the order in which they came, up to a limit. A client
// that goes away ends its reply, or its wait.
#ifndef TG_TOOLS_LLM_SERVER_H_
#define TG_TOOLS_LLM_SERVER_H_

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "frontend/tokenizer/chat_template.h"
#include "frontend/tokenizer/tokenizer.h"
#include "tools/llm/generator.h"
#include "tools/llm/text_model.h"

namespace tg::llm {

struct ServerOptions {
  std::string host = "127.0.0.1";
  int port = 8080;           // 0: any that is free
  std::string model_name;    // as /v1/models tells it
  GenerateOptions defaults;  // of what a request leaves open
  int64_t max_waiting = 64;  // requests; further ones are refused (503)
  size_t max_body_bytes = size_t{1} << 20;
};

// Serves until the process gets SIGINT or SIGTERM. Prints the address to standard error. Returns an
// error if the address cannot be used.
absl::Status Serve(TextModel& model, const tokenizer::Tokenizer& tokenizer,
                   const std::optional<tokenizer::ChatTemplate>& chat,
                   const ServerOptions& options);

}  // namespace tg::llm

#endif  // TG_TOOLS_LLM_SERVER_H_
