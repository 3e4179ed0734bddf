#include "tools/llm/http/http_parser.h"

#include <boost/asio/buffer.hpp>
#include <boost/beast/core/string.hpp>
#include <boost/beast/http/error.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/status.hpp>
#include <boost/beast/http/string_body.hpp>
#include <cstdint>
#include <utility>

#include "base/status.h"

namespace tg::http {
namespace {

namespace beast = boost::beast;

}  // namespace

class RequestParser::Impl {
 public:
  Impl(size_t max_head_bytes, size_t max_body_bytes)
      : max_head_bytes(max_head_bytes), max_body_bytes(max_body_bytes) {
    parser.eager(true);
    parser.header_limit(static_cast<uint32_t>(max_head_bytes));
    parser.body_limit(max_body_bytes);
  }
  const size_t max_head_bytes, max_body_bytes;
  beast::http::request_parser<beast::http::string_body> parser;
};

RequestParser::RequestParser(size_t max_head_bytes, size_t max_body_bytes)
    : impl_(std::make_unique<Impl>(max_head_bytes, max_body_bytes)) {}
RequestParser::~RequestParser() = default;

std::optional<Refusal> RequestParser::Put(std::string& unparsed) {
  while (!unparsed.empty() && !is_done()) {
    beast::error_code error;
    const size_t used = impl_->parser.put(boost::asio::buffer(unparsed), error);
    unparsed.erase(0, used);
    if (error == beast::http::error::need_more) break;
    if (error == beast::http::error::body_limit) {
      return Refusal{413, Cat("the body has more than ", impl_->max_body_bytes, " bytes")};
    }
    if (error == beast::http::error::header_limit) {
      return Refusal{431, Cat("the head has more than ", impl_->max_head_bytes, " bytes")};
    }
    if (error) return Refusal{400, Cat("the request is no HTTP: ", error.message())};
    if (used == 0) break;
  }
  if (!is_done() && unparsed.size() >= kMaxUnparsed) {
    return Refusal{400, "a line of a chunk is too long"};
  }
  return std::nullopt;
}

bool RequestParser::has_begun() const { return impl_->parser.got_some(); }
bool RequestParser::is_done() const { return impl_->parser.is_done(); }

bool RequestParser::expects_continue() const {
  return impl_->parser.is_header_done() && !is_done() &&
         beast::iequals(impl_->parser.get()[beast::http::field::expect], "100-continue");
}

ParsedRequest RequestParser::Take() {
  auto message = impl_->parser.release();
  const std::string target(message.target());
  ParsedRequest result;
  result.request.method = std::string(message.method_string());
  result.request.path = target.substr(0, target.find('?'));
  result.request.body = std::move(message.body());
  result.keeps_alive = message.keep_alive();
  result.is_http_1_0 = message.version() < 11;
  return result;
}

std::string_view ReasonOf(int status) {
  const beast::string_view reason =
      beast::http::obsolete_reason(static_cast<beast::http::status>(status));
  return {reason.data(), reason.size()};
}

}  // namespace tg::http
