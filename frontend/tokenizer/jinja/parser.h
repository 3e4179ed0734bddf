// Recursive descent over a template's tokens. After an error every function returns null, and
// status() is the first error.
#ifndef TG_FRONTEND_TOKENIZER_JINJA_PARSER_H_
#define TG_FRONTEND_TOKENIZER_JINJA_PARSER_H_

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "frontend/tokenizer/jinja/lexer.h"
#include "frontend/tokenizer/jinja/syntax.h"

namespace tg::jinja {

class Parser {
 public:
  // `text`: the template that the tokens were cut from, for messages.
  Parser(std::string_view text, std::vector<Token> tokens)
      : text_(text), tokens_(std::move(tokens)) {}

  // The whole template.
  Body ParseTemplate();
  const absl::Status& status() const { return status_; }

 private:
  using Kind = ExpressionKind;

  // --- Tokens, in parser.cc ---
  const Token& Peek() const { return tokens_[at_]; }
  Token Next();
  bool IsName(std::string_view name) const;
  bool IsOperator(std::string_view text) const;
  bool TakeName(std::string_view name);
  bool TakeOperator(std::string_view text);
  void ExpectOperator(std::string_view text);
  void ExpectName(std::string_view name);
  void ExpectEndBlock();
  std::string TakeIdentifier();
  void Fail(size_t position, std::string_view message);
  void FailHere(std::string_view wanted);
  bool ok() const { return status_.ok(); }

  // --- Statements, in parser.cc ---
  // Parses up to a block whose first word is one of `ends`. That block is left for the caller.
  Body ParseBody(std::initializer_list<std::string_view> ends);
  void ParseBlock(Body& out);
  std::unique_ptr<Statement> ParseIf();
  std::unique_ptr<Statement> ParseFor();
  std::unique_ptr<Statement> ParseSet();
  std::unique_ptr<Statement> ParseMacro();
  std::unique_ptr<Statement> ParseFilterBlock();
  std::vector<std::string> ParseTargets(bool with_attributes);
  void EndBlock(std::string_view name);

  // --- Expressions, in expression_parser.cc ---
  ExpressionPtr ParseExpression();  // with a tuple where commas follow
  ExpressionPtr ParseCondition(bool with_if = true);
  ExpressionPtr ParseOr();
  ExpressionPtr ParseAnd();
  ExpressionPtr ParseNot();
  ExpressionPtr ParseCompare();
  ExpressionPtr ParseSum();
  ExpressionPtr ParseConcat();
  ExpressionPtr ParseProduct();
  ExpressionPtr ParsePower();
  ExpressionPtr ParseUnary(bool with_filters = true);
  ExpressionPtr ParsePrimary();
  ExpressionPtr ParsePostfix(ExpressionPtr value);
  ExpressionPtr ParseSubscript(ExpressionPtr value);
  ExpressionPtr ParseFilters(ExpressionPtr value);
  ExpressionPtr ParseTest(ExpressionPtr value);
  ExpressionPtr ParseNumber(const Token& token);
  ExpressionPtr ParseParentheses();
  ExpressionPtr ParseList();
  ExpressionPtr ParseDict();
  void ParseArguments(Expression& call);

  // A node over operands, or null after an error or where it is too deep.
  ExpressionPtr Make(Kind kind, size_t position, std::vector<ExpressionPtr> operands,
                     std::string text = "");
  ExpressionPtr Finish(std::unique_ptr<Expression> node);
  template <class... Operands>
  ExpressionPtr MakeOf(Kind kind, size_t position, std::string text, Operands... operands) {
    std::vector<ExpressionPtr> list;
    (list.push_back(std::move(operands)), ...);
    return Make(kind, position, std::move(list), std::move(text));
  }

  // Bounds the recursion of the parser itself.
  class Nested {
   public:
    explicit Nested(Parser& parser) : parser_(parser) { ++parser_.nesting_; }
    ~Nested() { --parser_.nesting_; }
    bool TooDeep();

   private:
    Parser& parser_;
  };

  const std::string_view text_;
  const std::vector<Token> tokens_;
  size_t at_ = 0;
  int nesting_ = 0;
  int loops_ = 0;  // around the statement
  absl::Status status_;
};

}  // namespace tg::jinja

#endif  // TG_FRONTEND_TOKENIZER_JINJA_PARSER_H_
