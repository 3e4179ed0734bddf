#include "ir/text/cursor.h"

#include <charconv>
#include <cstring>
#include <optional>
#include <utility>
#include <vector>

#include "base/suggest.h"

namespace tg::text {
namespace {

bool InWord(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

// Names of types in C.
constexpr std::pair<std::string_view, Scalar> kCNames[] = {
    {"char", Scalar::kI8},   {"uchar", Scalar::kU8},   {"short", Scalar::kI16},
    {"int", Scalar::kI32},   {"ushort", Scalar::kU16}, {"uint", Scalar::kU32},
    {"long", Scalar::kI64},  {"ulong", Scalar::kU64},  {"half", Scalar::kF16},
    {"float", Scalar::kF32}, {"double", Scalar::kF64},
};
// NumPy's names are one of these and the number of bits; here the first letters suffice.
constexpr std::pair<std::string_view, std::string_view> kNumpyPrefixes[] = {
    {"int", "i"}, {"uint", "u"}, {"float", "f"}, {"bfloat", "bf"}};

// The scalar that C or NumPy call `name`.
std::optional<Scalar> ScalarElsewhere(std::string_view name) {
  for (const auto& [c_name, scalar] : kCNames) {
    if (name == c_name) return scalar;
  }
  for (const auto& [prefix, ours] : kNumpyPrefixes) {
    if (!name.starts_with(prefix)) continue;
    const std::optional<Scalar> scalar =
        ScalarFromName(std::string(ours) + std::string(name.substr(prefix.size())));
    if (scalar) return scalar;
  }
  return std::nullopt;
}

// Translates other spellings of a type: "float32x4" -> "f32x4".
std::string OurSpelling(std::string_view text) {
  size_t x = text.rfind('x');
  if (x == std::string_view::npos || x + 1 == text.size() || x == 0 || text[x + 1] < '0' ||
      text[x + 1] > '9') {
    x = text.size();
  }
  const std::string_view head = text.substr(0, x);
  if (const std::optional<Scalar> scalar = ScalarElsewhere(head)) {
    return std::string(GetScalarInfo(*scalar).text) + std::string(text.substr(x));
  }
  std::vector<std::string_view> names;
  for (const ScalarInfo& info : kScalarInfos) names.push_back(info.text);
  names.push_back("ptr");
  names.push_back("image");
  const std::string_view best = Suggest(head, names);
  return best.empty() ? "" : std::string(best) + std::string(text.substr(x));
}

}  // namespace

bool Cursor::FailAt(Location loc, std::string message) {
  diags_.Error(loc, std::move(message));
  return false;
}

bool Cursor::Expected(std::string_view what) {
  return Fail("expected " + std::string(what) + ", found " + Describe(token()));
}

bool Cursor::Expect(char punct, std::string_view where) {
  if (Accept(punct)) return true;
  return Expected("'" + std::string(1, punct) + "' " + std::string(where));
}

bool Cursor::ExpectLineEnd(std::string_view after) {
  if (!token().EndsLine()) {
    Expected("the end of the line after " + std::string(after));
    lexer_.SkipLine();
    if (token().kind == TokenKind::kNewline) Next();
    return false;
  }
  if (token().kind == TokenKind::kNewline) Next();
  return true;
}

bool Cursor::Int(int64_t* out, std::string_view what) {
  if (token().kind != TokenKind::kNumber) return Expected(what);
  const std::string_view s = token().text;
  const auto [end, code] = std::from_chars(s.data(), s.data() + s.size(), *out);
  if (end != s.data() + s.size()) return Expected(what);
  if (code == std::errc::result_out_of_range) {
    return Fail(std::string(s.substr(0, 60)) + " does not fit in 64 bits");
  }
  if (code != std::errc()) return Expected(what);
  Next();
  return true;
}

bool Cursor::Bool(bool* out) {
  *out = token().IsWord("true");
  if (!*out && !token().IsWord("false")) return Expected("true or false");
  Next();
  return true;
}

bool Cursor::String(std::string* out, std::string_view what) {
  if (token().kind != TokenKind::kString) return Expected(what);
  if (!token().escaped) {
    *out = token().text.substr(1, token().text.size() - 2);
  } else if (!Unescape(token().text, out)) {
    return Fail("unknown escape in a string; there are \\\\ \\\" \\n \\t \\r \\xNN");
  }
  Next();
  return true;
}

bool Cursor::Constant(Token* out) {
  const Token& t = token();
  const bool word = t.IsWord("true") || t.IsWord("false") || t.IsWord("inf") || t.IsWord("nan");
  if (!word && t.kind != TokenKind::kNumber) return Expected("a constant");
  if (t.text == "nan") {
    const char* p = t.text.data() + 3;
    if (p != lexer_.end() && *p == '(') {
      while (p != lexer_.end() && *p != ')' && *p != '\n') ++p;
      if (p != lexer_.end() && *p == ')') {
        lexer_.Extend(static_cast<size_t>(p + 1 - t.begin));
      }
    }
  }
  *out = Take();
  return true;
}

bool Cursor::Type(DType* out) {
  const Token& t = token();
  if (t.kind != TokenKind::kWord) return Expected("a type");
  const char* p = t.text.data() + t.text.size();
  const char* const end = lexer_.end();
  if (p != end && *p == '<') {
    while (p != end && *p != '>' && *p != '\n') ++p;
    if (p == end || *p == '\n') {
      return Fail("expected '>' to end the type '" + std::string(t.text) + "<...'");
    }
    ++p;
    while (p != end && InWord(*p)) ++p;
    lexer_.Extend(static_cast<size_t>(p - t.begin));
  }
  const std::string_view s = token().text;
  uint32_t head = 0;
  std::memcpy(&head, s.data(), s.size() < 4 ? s.size() : 4);
  const auto hash = (head * 0x9e3779b1u >> 16) + s.size() + static_cast<unsigned char>(s.back());
  KnownType& known = known_types_[hash % 64];
  if (known.text != s) {
    const auto type = DTypeFromString(s);
    if (!type) return BadType(s);
    known = {s, *type};
  }
  *out = known.type;
  Next();
  return true;
}

bool Cursor::BadType(std::string_view text) {
  std::string message = "unknown type '" + std::string(text.substr(0, 60)) + "'";
  const size_t open = text.find('<');
  if (open == std::string_view::npos) {
    const std::string best = OurSpelling(text);
    if (best == text) {
      message += "; a vector has 1 to 65535 lanes";
    } else if (!best.empty()) {
      message += "; did you mean '" + best + "'?";
    }
  } else if (text.substr(0, open) == "image") {
    message += "; an image is image<f16 or f32, height, width>";
  } else {
    message += "; a pointer is ptr<element, size, global or local or private or reg>";
  }
  return Fail(message);
}

}  // namespace tg::text
