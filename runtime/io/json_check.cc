#include "runtime/io/json_check.h"

#include <optional>
#include <string>
#include <unordered_set>
#include <vector>

#include "base/status.h"
#include "llvm/Support/JSON.h"

namespace tg::runtime {
namespace {

// Returns the offset behind the string literal that starts at `at`, or nothing if it does not end.
std::optional<size_t> EndOfString(std::string_view text, size_t at) {
  for (size_t i = at + 1; i < text.size(); ++i) {
    if (text[i] == '"') return i + 1;
    if (text[i] == '\\') ++i;
  }
  return std::nullopt;
}

size_t SkipSpace(std::string_view text, size_t at) {
  const size_t end = text.find_first_not_of(" \t\r\n", at);
  return end == std::string_view::npos ? text.size() : end;
}

// Returns the value of a string literal, or a malformed literal unchanged (the parser will report
// it).
std::string Decode(std::string_view literal) {
  if (literal.find('\\') == std::string_view::npos) {
    return std::string(literal.substr(1, literal.size() - 2));
  }
  llvm::Expected<llvm::json::Value> value =
      llvm::json::parse(llvm::StringRef(literal.data(), literal.size()));
  if (!value) {
    llvm::consumeError(value.takeError());
    return std::string(literal);
  }
  const auto decoded = value->getAsString();
  return decoded ? decoded->str() : std::string(literal);
}

}  // namespace

absl::Status CheckJsonDepthAndKeys(std::string_view text, int max_depth, std::string_view name) {
  std::vector<std::unordered_set<std::string>> keys;  // for each open object or array
  for (size_t at = 0; at < text.size();) {
    const char c = text[at];
    if (c == '"') {
      const std::optional<size_t> end = EndOfString(text, at);
      if (!end.has_value()) break;
      const size_t next = SkipSpace(text, *end);
      if (next < text.size() && text[next] == ':' && !keys.empty()) {
        std::string key = Decode(text.substr(at, *end - at));
        if (!keys.back().insert(key).second) {
          return InvalidArgument(name, ": JSON, character ", at, ": the key \"", key.substr(0, 200),
                                 "\" is given twice");
        }
      }
      at = next;
      continue;
    }
    if (c == '{' || c == '[') {
      if (static_cast<int>(keys.size()) == max_depth) {
        return InvalidArgument(name, ": JSON, character ", at, ": nested deeper than ", max_depth);
      }
      keys.emplace_back();
    } else if ((c == '}' || c == ']') && !keys.empty()) {
      keys.pop_back();
    }
    ++at;
  }
  return absl::OkStatus();
}

}  // namespace tg::runtime
