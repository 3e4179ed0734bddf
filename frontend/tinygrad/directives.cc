#include "frontend/tinygrad/directives.h"

#include <charconv>
#include <string_view>
#include <utility>

#include "frontend/tinygrad/ops.h"

namespace tg::tinygrad {
namespace {

bool IsSymbolChar(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '.' || c == '$' || c == '-';
}

// Scans one directive from left to right.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : rest_(text) {}

  std::string_view Word() {
    Blanks();
    size_t n = 0;
    while (n < rest_.size() && rest_[n] != ' ' && rest_[n] != '=' && rest_[n] != '(') ++n;
    return Take(n);
  }
  bool Punct(char c) {
    Blanks();
    if (rest_.empty() || rest_[0] != c) return false;
    rest_.remove_prefix(1);
    return true;
  }
  bool Number(int64_t* value) {
    Blanks();
    const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), *value);
    rest_.remove_prefix(static_cast<size_t>(end - rest_.data()));
    return error == std::errc();
  }
  bool String(std::string* value) {
    if (!Punct('"')) return false;
    const size_t end = rest_.find('"');
    if (end == std::string_view::npos) return false;
    *value = Take(end);
    rest_.remove_prefix(1);
    return true;
  }
  bool AtEnd() {
    Blanks();
    return rest_.empty();
  }

 private:
  void Blanks() {
    while (!rest_.empty() && (rest_[0] == ' ' || rest_[0] == '\r')) rest_.remove_prefix(1);
  }
  std::string_view Take(size_t n) {
    const std::string_view taken = rest_.substr(0, n);
    rest_.remove_prefix(n);
    return taken;
  }
  std::string_view rest_;
};

// Reads " = NUMBER [SHAPE] file(...)" or " = none [SHAPE] TYPE"; the latter leaves `number` empty.
// Returns the error message, or an empty string.
std::string ReadBuffer(Scanner& s, NamedBuffer* buffer, std::optional<int64_t>* number) {
  constexpr const char* kNoNumber = "expected '= NUMBER' behind the name";
  if (!s.Punct('=')) return kNoNumber;
  if (!s.Number(&number->emplace())) {
    number->reset();
    if (buffer->role != Role::kInput || s.Word() != "none") return kNoNumber;
  }
  if (!s.Punct('[')) return "expected the shape";
  while (!s.Punct(']')) {
    int64_t extent = 0;
    if (!s.Number(&extent) || extent < 0) return "expected an extent";
    buffer->shape.push_back(extent);
    s.Punct(',');
  }
  if (!*number) {
    const auto type = TypeNamed(s.Word());
    if (!type || type->weak || !type->type.is_value()) return "expected a type, as dtypes.float";
    buffer->type = type->type;
  }
  const bool may_have_file = buffer->role == Role::kParam || buffer->role == Role::kState;
  if (may_have_file && !s.AtEnd()) {
    if (s.Word() != "file" || !s.Punct('(') || !s.String(&buffer->file) || !s.Punct(',') ||
        !s.String(&buffer->tensor) || !s.Punct(')')) {
      return "expected file(\"FILE\", \"TENSOR\")";
    }
  }
  return s.AtEnd() ? "" : "unexpected text behind the directive";
}

}  // namespace

std::string SymbolFor(std::string_view name) {
  std::string symbol;
  for (char c : name) symbol += IsSymbolChar(c) ? c : '_';
  const bool starts_well = !symbol.empty() && (symbol[0] == '_' || (symbol[0] | 32) >= 'a');
  return starts_well ? symbol : "_" + symbol;
}

std::optional<Directives> ReadDirectives(const Text& text, Diagnostics& diags) {
  Directives result;
  for (const Comment& comment : text.comments) {
    Scanner s(comment.text);
    if (s.Word() != "tg:") continue;
    const auto fail = [&](const std::string& message) {
      diags.Error(comment.loc, "directive: " + message);
      return std::nullopt;
    };
    const std::string_view kind = s.Word();
    if (kind == "module") {
      result.module = SymbolFor(s.Word());
      continue;
    }
    const std::optional<Role> role = RoleFromName(kind);
    if (!role || *role == Role::kTemp) {
      return fail("expected module, input, param, state or output, found '" + std::string(kind) +
                  "'");
    }
    NamedBuffer buffer;
    buffer.role = *role;
    buffer.name = SymbolFor(s.Word());
    buffer.loc = comment.loc;
    std::optional<int64_t> number;
    if (const std::string error = ReadBuffer(s, &buffer, &number); !error.empty()) {
      return fail(error);
    }
    if (!number) {
      result.unread.push_back(std::move(buffer));
      continue;
    }
    auto& map = *role == Role::kOutput ? result.outputs : result.buffers;
    if (!map.emplace(*number, std::move(buffer)).second) {
      return fail("number " + std::to_string(*number) + " has a name already");
    }
  }
  return result;
}

}  // namespace tg::tinygrad
