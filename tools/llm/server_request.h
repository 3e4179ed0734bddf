// What a client of the server asks for.
#ifndef TG_TOOLS_LLM_SERVER_REQUEST_H_
#define TG_TOOLS_LLM_SERVER_REQUEST_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "frontend/tokenizer/chat_template.h"
#include "tools/llm/generator.h"

namespace tg::llm {

struct ServerRequest {
  std::vector<tokenizer::ChatMessage> messages;  // of a chat
  std::string prompt;                            // of a completion
  bool stream = false;
  bool includes_usage = false;  // a stream ends with the numbers of tokens
  GenerateOptions generate;
};

// Parses the body of a request for a chat or a completion. Fields that it leaves out have the
// values in `defaults`. Returns InvalidArgument with the name of an invalid field, or of one that
// is not supported, unless its value asks for nothing, as null, 0, [] or {"type": "text"} do.
absl::StatusOr<ServerRequest> ParseServerRequest(std::string_view body, bool is_chat,
                                                 const GenerateOptions& defaults);

}  // namespace tg::llm

#endif  // TG_TOOLS_LLM_SERVER_REQUEST_H_
