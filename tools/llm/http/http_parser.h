// Parses one HTTP/1 request from bytes as they come, within bounds.
#ifndef TG_TOOLS_LLM_HTTP_HTTP_PARSER_H_
#define TG_TOOLS_LLM_HTTP_HTTP_PARSER_H_

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "tools/llm/http/http_server.h"

namespace tg::http {

struct ParsedRequest {
  Request request;
  bool keeps_alive = true;  // the connection goes on after the answer
  bool is_http_1_0 = false;
};

// Why a request is refused.
struct Refusal {
  int status = 0;
  std::string message;
};

class RequestParser {
 public:
  RequestParser(size_t max_head_bytes, size_t max_body_bytes);
  ~RequestParser();

  // Takes bytes from the front of `unparsed`, up to the end of the request. The rest is to be
  // passed again, with the bytes that follow; it is shorter than kMaxUnparsed unless the request is
  // done.
  std::optional<Refusal> Put(std::string& unparsed);
  static constexpr size_t kMaxUnparsed = size_t{64} << 10;

  bool has_begun() const;  // some bytes were taken
  bool is_done() const;
  // Whether the client sends the body only when it is told to continue.
  bool expects_continue() const;
  // The request, once, when it is done.
  ParsedRequest Take();

 private:
  class Impl;
  const std::unique_ptr<Impl> impl_;
};

// The text behind a status in the first line of an answer, such as "OK".
std::string_view ReasonOf(int status);

}  // namespace tg::http

#endif  // TG_TOOLS_LLM_HTTP_HTTP_PARSER_H_
