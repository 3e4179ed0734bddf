// Cursor: the state that both halves of the parser share: the lexer, the sink of errors and small
// rules of the grammar. A function that returns bool has reported an error if it returns false.
#ifndef TG_IR_TEXT_CURSOR_H_
#define TG_IR_TEXT_CURSOR_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "ir/dtype.h"
#include "ir/text/diagnostic.h"
#include "ir/text/lexer.h"

namespace tg::text {

class Cursor {
 public:
  Cursor(std::string_view text, Diagnostics& diags) : lexer_(text), diags_(diags) {}

  const Token& token() const { return lexer_.token(); }
  Token Take() {
    const Token t = lexer_.token();
    lexer_.Next();
    return t;
  }
  void Next() { lexer_.Next(); }
  Lexer& lexer() { return lexer_; }
  Diagnostics& diags() { return diags_; }
  Location Loc() const { return lexer_.Loc(lexer_.token()); }

  // Reports an error at the current token; always returns false.
  bool Fail(std::string message) { return FailAt(Loc(), std::move(message)); }
  bool FailAt(Location loc, std::string message);
  // Reports "expected `what`, found ...".
  bool Expected(std::string_view what);

  bool Accept(char punct) {
    if (!token().Is(punct)) return false;
    Next();
    return true;
  }
  bool Expect(char punct, std::string_view where);
  // Requires the end of a statement's line. Skips the rest of the line in any case.
  bool ExpectLineEnd(std::string_view after);
  void SkipBlankLines() {
    while (token().kind == TokenKind::kNewline) Next();
  }

  bool Int(int64_t* out, std::string_view what);
  bool Bool(bool* out);
  bool String(std::string* out, std::string_view what);
  bool Type(DType* out);
  // Reads a constant's token, including `nan(0x...)`. Its type determines the value later.
  bool Constant(Token* out);

  // Calls item() for each item of a comma-separated list, and consumes `close`. The opening bracket
  // is already consumed.
  template <typename F>
  bool List(char close, F item) {
    if (Accept(close)) return true;
    for (;;) {
      if (!item()) return false;
      if (Accept(close)) return true;
      if (!Accept(',')) return Expected(std::string("',' or '") + close + "'");
    }
  }

 private:
  bool BadType(std::string_view text);

  Lexer lexer_;
  Diagnostics& diags_;
  // Cache of recent types, by the hash of their text.
  struct KnownType {
    std::string_view text;
    DType type;
  };
  KnownType known_types_[64];
};

}  // namespace tg::text

#endif  // TG_IR_TEXT_CURSOR_H_
