// Lexer: splits the text into tokens, one at a time. It copies and allocates nothing: tokens are
// views that live as long as the text.
//
// A line end is a token, since a statement is a line. `//` comments and blanks are skipped.
#ifndef TG_IR_TEXT_LEXER_H_
#define TG_IR_TEXT_LEXER_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "ir/module.h"

namespace tg::text {

enum class TokenKind : uint8_t {
  kEnd,  // end of the file
  kNewline,
  kWord,    // add, f32x4, i0.1
  kName,    // %x; the text without the '%'
  kSymbol,  // @x; the text without the '@'
  kNumber,  // 12, -3, 1.5, -1e-05, -inf, 0x7f
  kString,  // "..." with its quotes and escapes
  kArrow,   // ->
  kPunct,   // one of ( ) [ ] { } < > , : = *
  kBad,     // anything else; `Describe` returns the error
};

struct Token {
  TokenKind kind = TokenKind::kEnd;
  bool escaped = false;  // a string with escapes
  std::string_view text;
  const char* begin = nullptr;

  bool Is(char punct) const { return kind == TokenKind::kPunct && text[0] == punct; }
  bool IsWord(std::string_view word) const { return kind == TokenKind::kWord && text == word; }
  bool EndsLine() const { return kind <= TokenKind::kNewline; }
};

// Describes a token, for "expected ..., found ...".
std::string Describe(const Token& token);
// Decodes a string token; returns false if an escape is invalid.
bool Unescape(std::string_view quoted, std::string* out);

class Lexer {
 public:
  explicit Lexer(std::string_view text)
      : at_(text.data()), end_(at_ + text.size()), line_start_(at_) {
    Next();
  }

  const Token& token() const { return token_; }
  // Advances to the next token. At the end of the file it does nothing.
  void Next();
  // Advances to the end of this line.
  void SkipLine();

  // Replaces the current token by one of `size` bytes on this line. A type is such a token, since
  // it has a syntax that the lexer does not know.
  void Extend(size_t size);

  // Whether `c` is the last character of this line before blanks and a comment.
  bool LineEndsWith(char c) const;
  // The number of lines before the next one that begins with '}'.
  size_t CountBodyLines() const;

  const char* end() const { return end_; }
  Location Loc(const Token& token) const {
    return {line_, static_cast<uint32_t>(token.begin - line_start_) + 1};
  }
  uint32_t line() const { return line_; }

 private:
  void Number();
  void String();
  void Bad(size_t size = 1) {
    token_.kind = TokenKind::kBad;
    token_.text = {at_, size};
    at_ += size;
  }

  const char* at_;
  const char* end_;
  const char* line_start_;
  uint32_t line_ = 1;
  Token token_;
};

}  // namespace tg::text

#endif  // TG_IR_TEXT_LEXER_H_
