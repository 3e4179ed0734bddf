#include "ir/text/lexer.h"

#include <array>
#include <cstring>
#include <string>

namespace tg::text {
namespace {

enum : uint8_t { kLetter = 1, kDigit = 2, kDot = 4, kSymbolOnly = 8, kPunctuation = 16 };

constexpr std::array<uint8_t, 256> kClass = [] {
  std::array<uint8_t, 256> table{};
  for (int c = 'a'; c <= 'z'; ++c) table[static_cast<size_t>(c)] = kLetter;
  for (int c = 'A'; c <= 'Z'; ++c) table[static_cast<size_t>(c)] = kLetter;
  for (int c = '0'; c <= '9'; ++c) table[static_cast<size_t>(c)] = kDigit;
  table['_'] = kLetter;
  table['.'] = kDot;
  table['$'] = table['-'] = kSymbolOnly;
  for (char c : std::string_view("()[]{}<>,:=*")) table[static_cast<size_t>(c)] = kPunctuation;
  return table;
}();

inline bool Has(char c, int classes) {
  return (kClass[static_cast<unsigned char>(c)] & classes) != 0;
}

constexpr int kInName = kLetter | kDigit | kDot;

}  // namespace

void Lexer::Next() {
  const char* p = at_;
  const char* const end = end_;
  if (token_.kind == TokenKind::kNewline) {
    ++line_;
    line_start_ = p;
  }
  while (p != end && (*p == ' ' || *p == '\t' || *p == '\r')) ++p;
  token_.begin = p;
  at_ = p;
  if (p == end) {
    token_.kind = TokenKind::kEnd;
    token_.text = {p, 0};
    return;
  }
  const char c = *p;
  const auto name = [&](TokenKind kind, int classes) {
    const char* first = p + (kind != TokenKind::kWord);
    const char* q = first;
    while (q != end && Has(*q, classes)) ++q;
    if (q == first) return Bad();
    token_.kind = kind;
    token_.text = {first, static_cast<size_t>(q - first)};
    at_ = q;
  };
  if (Has(c, kLetter)) return name(TokenKind::kWord, kInName);
  if (Has(c, kPunctuation)) {
    token_.kind = TokenKind::kPunct;
    token_.text = {p, 1};
    at_ = p + 1;
    return;
  }
  if (Has(c, kDigit)) return Number();
  switch (c) {
    case '%':
      name(TokenKind::kName, kInName);
      // %12 is a number; %12a and %.x are invalid.
      if (token_.kind == TokenKind::kName && !Has(token_.text[0], kLetter)) {
        for (char d : token_.text) {
          if (!Has(d, kDigit)) {
            token_.kind = TokenKind::kBad;
            token_.text = {p, static_cast<size_t>(at_ - p)};
            return;
          }
        }
      }
      return;
    case '@':
      name(TokenKind::kSymbol, kInName | kSymbolOnly);
      if (token_.kind == TokenKind::kSymbol && !Has(token_.text[0], kLetter)) {
        token_.kind = TokenKind::kBad;
        token_.text = {p, static_cast<size_t>(at_ - p)};
      }
      return;
    case '\n':
      token_.kind = TokenKind::kNewline;
      token_.text = {p, 1};
      at_ = p + 1;
      return;
    case '-':
      if (p + 1 != end && p[1] == '>') {
        token_.kind = TokenKind::kArrow;
        token_.text = {p, 2};
        at_ = p + 2;
        return;
      }
      return Number();
    case '"':
      return String();
    case '/':
      if (p + 1 != end && p[1] == '/') {
        const void* newline = std::memchr(p, '\n', static_cast<size_t>(end - p));
        at_ = newline ? static_cast<const char*>(newline) : end;
        // A comment extends to the end of the line, so the recursion is one level deep.
        token_.kind = TokenKind::kBad;
        return Next();
      }
      return Bad();
    default:
      return Bad();
  }
}

void Lexer::Number() {
  const char* q = at_;
  if (*q == '-') ++q;
  const char* digits = q;
  const bool hex = end_ - q > 1 && q[0] == '0' && (q[1] == 'x' || q[1] == 'X');
  while (q != end_ && Has(*q, kInName)) {
    const bool exponent = !hex && (*q == 'e' || *q == 'E');
    ++q;
    if (exponent && q != end_ && (*q == '-' || *q == '+')) ++q;
  }
  if (q == digits) return Bad();
  token_.kind = TokenKind::kNumber;
  token_.text = {at_, static_cast<size_t>(q - at_)};
  at_ = q;
}

void Lexer::String() {
  const char* q = at_ + 1;
  token_.escaped = false;
  for (;; ++q) {
    if (q == end_ || *q == '\n') return Bad(static_cast<size_t>(q - at_));
    if (*q == '"') break;
    if (*q == '\\') {
      token_.escaped = true;
      if (q + 1 != end_ && q[1] != '\n') ++q;
    }
  }
  token_.kind = TokenKind::kString;
  token_.text = {at_, static_cast<size_t>(q + 1 - at_)};
  at_ = q + 1;
}

void Lexer::SkipLine() {
  if (token_.EndsLine()) return;
  const void* newline = std::memchr(at_, '\n', static_cast<size_t>(end_ - at_));
  at_ = newline ? static_cast<const char*>(newline) : end_;
  Next();
}

bool Lexer::LineEndsWith(char c) const {
  std::string_view line(at_, static_cast<size_t>(end_ - at_));
  line = line.substr(0, line.find('\n'));
  line = line.substr(0, line.find("//"));
  const size_t last = line.find_last_not_of(" \t\r");
  return last != std::string_view::npos && line[last] == c;
}

size_t Lexer::CountBodyLines() const {
  size_t lines = 0;
  for (const char* p = at_; p != end_; ++lines) {
    const void* newline = std::memchr(p, '\n', static_cast<size_t>(end_ - p));
    if (!newline) break;
    p = static_cast<const char*>(newline) + 1;
    if (p != end_ && *p == '}') break;
  }
  return lines;
}

void Lexer::Extend(size_t size) {
  token_.text = {token_.begin, size};
  at_ = token_.begin + size;
}

std::string Describe(const Token& token) {
  switch (token.kind) {
    case TokenKind::kEnd:
      return "the end of the file";
    case TokenKind::kNewline:
      return "the end of the line";
    case TokenKind::kName:
      return "'%" + std::string(token.text) + "'";
    case TokenKind::kSymbol:
      return "'@" + std::string(token.text) + "'";
    case TokenKind::kBad: {
      const char c = token.text[0];
      if (c == '"') return "a string that does not end on its line";
      if (token.text.size() > 1) {
        return "'" + std::string(token.text) + "', which is not a name (letters, digits, '_' and " +
               "'.', beginning with a letter or '_')";
      }
      if (static_cast<unsigned char>(c) > 0x20 && static_cast<unsigned char>(c) < 0x7f) {
        return "a stray '" + std::string(1, c) + "'";
      }
      static constexpr char kHex[] = "0123456789abcdef";
      const auto byte = static_cast<unsigned char>(c);
      return std::string("the byte 0x") + kHex[byte >> 4] + kHex[byte & 15] +
             ", which has no place in the text";
    }
    default:
      return "'" + std::string(token.text.substr(0, 60)) + "'";
  }
}

bool Unescape(std::string_view quoted, std::string* out) {
  const std::string_view s = quoted.substr(1, quoted.size() - 2);
  out->clear();
  const auto hex = [](char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
  };
  for (size_t i = 0; i < s.size(); ++i) {
    if (s[i] != '\\') {
      out->push_back(s[i]);
      continue;
    }
    if (++i == s.size()) return false;
    switch (s[i]) {
      case 'n':
        out->push_back('\n');
        break;
      case 't':
        out->push_back('\t');
        break;
      case 'r':
        out->push_back('\r');
        break;
      case '"':
      case '\\':
        out->push_back(s[i]);
        break;
      case 'x': {
        if (i + 2 >= s.size()) return false;
        const int high = hex(s[i + 1]), low = hex(s[i + 2]);
        if (high < 0 || low < 0) return false;
        out->push_back(static_cast<char>(high * 16 + low));
        i += 2;
        break;
      }
      default:
        return false;
    }
  }
  return true;
}

}  // namespace tg::text
