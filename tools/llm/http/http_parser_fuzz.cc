// Checks for any bytes that the parser refuses them, waits for more, or gives a request within the
// bounds. Whether it gives one, and which, does not depend on the pieces in which the bytes come.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>
#include <string_view>

#include "base/check.h"
#include "tools/llm/http/http_parser.h"

namespace tg::http {
namespace {

constexpr size_t kMaxHead = 200, kMaxBody = 20;

// The request, and the number of bytes behind it; an empty text if there is none.
std::string Parse(std::string_view bytes, size_t piece) {
  RequestParser parser(kMaxHead, kMaxBody);
  std::string unparsed;
  while (!bytes.empty() && !parser.is_done()) {
    unparsed += bytes.substr(0, piece);
    bytes.remove_prefix(std::min(piece, bytes.size()));
    if (const std::optional<Refusal> refusal = parser.Put(unparsed)) {
      TG_CHECK(refusal->status >= 400 && refusal->status < 500 && !refusal->message.empty());
      return "";
    }
  }
  // A fault may be found when more bytes come.
  if (!parser.is_done()) return "";
  const size_t rest = unparsed.size() + bytes.size();
  const ParsedRequest parsed = parser.Take();
  const Request& r = parsed.request;
  TG_CHECK(r.method.size() + r.path.size() <= kMaxHead && r.body.size() <= kMaxBody);
  return r.method + "\n" + r.path + "\n" + r.body + "\n" + std::to_string(rest) +
         (parsed.keeps_alive ? " keeps" : " ends") + (parsed.is_http_1_0 ? " 1.0" : " 1.1");
}

}  // namespace
}  // namespace tg::http

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const std::string whole = tg::http::Parse(bytes, size + 1);
  for (const size_t piece : {1, 7}) {
    const std::string pieces = tg::http::Parse(bytes, piece);
    if (pieces != whole) std::fprintf(stderr, "%s\n%s\n", whole.c_str(), pieces.c_str());
    TG_CHECK(pieces == whole);
  }
  return 0;
}
