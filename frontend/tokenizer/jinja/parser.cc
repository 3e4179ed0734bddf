#include "frontend/tokenizer/jinja/parser.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace tg::jinja {
namespace {

std::string Describe(const Token& token) {
  switch (token.kind) {
    case TokenKind::kText:
      return "text";
    case TokenKind::kBeginOutput:
      return "'{{'";
    case TokenKind::kEndOutput:
      return "'}}'";
    case TokenKind::kBeginBlock:
      return "'{%'";
    case TokenKind::kEndBlock:
      return "'%}'";
    case TokenKind::kString:
      return "a string";
    case TokenKind::kName:
    case TokenKind::kInteger:
    case TokenKind::kFloat:
    case TokenKind::kOperator:
      return absl::StrCat("'", token.text, "'");
    case TokenKind::kEnd:
      return "the end of the template";
  }
  return "";
}

}  // namespace

Token Parser::Next() {
  const Token& token = tokens_[at_];
  if (at_ + 1 < tokens_.size()) ++at_;
  return token;
}

bool Parser::IsName(std::string_view name) const {
  return Peek().kind == TokenKind::kName && Peek().text == name;
}

bool Parser::IsOperator(std::string_view text) const {
  return Peek().kind == TokenKind::kOperator && Peek().text == text;
}

bool Parser::TakeName(std::string_view name) {
  if (!IsName(name)) return false;
  Next();
  return true;
}

bool Parser::TakeOperator(std::string_view text) {
  if (!IsOperator(text)) return false;
  Next();
  return true;
}

void Parser::ExpectOperator(std::string_view text) {
  if (!TakeOperator(text)) FailHere(absl::StrCat("'", std::string(text), "'"));
}

void Parser::ExpectName(std::string_view name) {
  if (!TakeName(name)) FailHere(absl::StrCat("'", std::string(name), "'"));
}

void Parser::ExpectEndBlock() {
  if (Peek().kind != TokenKind::kEndBlock) return FailHere("'%}'");
  Next();
}

std::string Parser::TakeIdentifier() {
  if (Peek().kind != TokenKind::kName) {
    FailHere("a name");
    return "";
  }
  return Next().text;
}

void Parser::Fail(size_t position, std::string_view message) {
  if (ok()) status_ = ErrorAt(text_, position, message);
}

void Parser::FailHere(std::string_view wanted) {
  Fail(Peek().position, absl::StrCat(std::string(wanted), " is expected, not ", Describe(Peek())));
}

bool Parser::Nested::TooDeep() {
  if (parser_.nesting_ <= kMaxDepth) return false;
  parser_.Fail(parser_.Peek().position, "nested too deeply");
  return true;
}

Body Parser::ParseTemplate() {
  Body body = ParseBody({});
  if (ok() && Peek().kind != TokenKind::kEnd) FailHere("the end of the template");
  return body;
}

Body Parser::ParseBody(std::initializer_list<std::string_view> ends) {
  Body body;
  Nested nested(*this);
  if (nested.TooDeep()) return body;
  while (ok()) {
    const Token& token = Peek();
    if (token.kind == TokenKind::kEnd) {
      if (ends.size() > 0) {
        FailHere(absl::StrCat("{% ", std::string(*(ends.end() - 1)), " %}"));
      }
      break;
    }
    if (token.kind == TokenKind::kText) {
      auto text = std::make_unique<Statement>();
      text->kind = StatementKind::kText;
      text->position = token.position;
      text->text = Next().text;
      body.push_back(std::move(text));
    } else if (token.kind == TokenKind::kBeginOutput) {
      auto output = std::make_unique<Statement>();
      output->kind = StatementKind::kOutput;
      output->position = Next().position;
      output->value = ParseExpression();
      if (ok() && Peek().kind != TokenKind::kEndOutput) FailHere("'}}'");
      Next();
      body.push_back(std::move(output));
    } else {
      const Token& word = tokens_[std::min(at_ + 1, tokens_.size() - 1)];
      const bool is_end = word.kind == TokenKind::kName &&
                          std::find(ends.begin(), ends.end(), word.text) != ends.end();
      if (is_end) break;
      ParseBlock(body);
    }
  }
  return body;
}

void Parser::ParseBlock(Body& out) {
  Next();  // {%
  const size_t position = Peek().position;
  const std::string word = TakeIdentifier();
  if (!ok()) return;
  std::unique_ptr<Statement> statement;
  if (word == "if") {
    statement = ParseIf();
  } else if (word == "for") {
    statement = ParseFor();
  } else if (word == "set") {
    statement = ParseSet();
  } else if (word == "macro") {
    statement = ParseMacro();
  } else if (word == "filter") {
    statement = ParseFilterBlock();
  } else if (word == "generation") {
    // Marks the assistant's text for training; the text itself is the same.
    ExpectEndBlock();
    Body body = ParseBody({"endgeneration"});
    EndBlock("endgeneration");
    std::move(body.begin(), body.end(), std::back_inserter(out));
    return;
  } else if (word == "break" || word == "continue") {
    if (loops_ == 0) return Fail(position, absl::StrCat("'", word, "' outside of a loop"));
    statement = std::make_unique<Statement>();
    statement->kind = word == "break" ? StatementKind::kBreak : StatementKind::kContinue;
    ExpectEndBlock();
  } else {
    return Fail(position, absl::StrCat("a statement '", word, "' is not supported here"));
  }
  if (!ok() || statement == nullptr) return;
  statement->position = position;
  out.push_back(std::move(statement));
}

// {% NAME %}
void Parser::EndBlock(std::string_view name) {
  if (!ok()) return;
  Next();  // {%
  ExpectName(name);
  ExpectEndBlock();
}

std::unique_ptr<Statement> Parser::ParseIf() {
  auto statement = std::make_unique<Statement>();
  statement->kind = StatementKind::kIf;
  bool has_condition = true;
  while (ok()) {
    Branch branch;
    if (has_condition) branch.condition = ParseExpression();
    ExpectEndBlock();
    if (!ok()) break;
    branch.body = has_condition ? ParseBody({"elif", "else", "endif"}) : ParseBody({"endif"});
    statement->branches.push_back(std::move(branch));
    if (!ok()) break;
    Next();  // {%
    const std::string word = TakeIdentifier();
    if (word == "endif") {
      ExpectEndBlock();
      break;
    }
    has_condition = word == "elif";
  }
  return statement;
}

std::unique_ptr<Statement> Parser::ParseFor() {
  auto statement = std::make_unique<Statement>();
  statement->kind = StatementKind::kFor;
  statement->targets = ParseTargets(false);
  ExpectName("in");
  statement->value = ParseCondition(false);
  if (TakeName("if")) statement->condition = ParseCondition();
  if (ok() && IsName("recursive")) Fail(Peek().position, "recursive loops are not supported");
  ExpectEndBlock();
  ++loops_;
  statement->body = ParseBody({"else", "endfor"});
  --loops_;
  if (!ok()) return statement;
  Next();  // {%
  if (TakeName("else")) {
    ExpectEndBlock();
    statement->else_body = ParseBody({"endfor"});
    EndBlock("endfor");
  } else {
    ExpectName("endfor");
    ExpectEndBlock();
  }
  return statement;
}

std::unique_ptr<Statement> Parser::ParseSet() {
  auto statement = std::make_unique<Statement>();
  statement->kind = StatementKind::kSet;
  statement->targets = ParseTargets(true);
  if (TakeOperator("=")) {
    statement->value = ParseExpression();
    ExpectEndBlock();
    return statement;
  }
  statement->kind = StatementKind::kSetBlock;
  if (ok() && statement->targets.size() != 1) FailHere("'='");
  if (IsOperator("|")) {
    statement->value = ParseFilters(Make(Kind::kName, Peek().position, {}, kBlockText));
  }
  ExpectEndBlock();
  statement->body = ParseBody({"endset"});
  EndBlock("endset");
  return statement;
}

std::unique_ptr<Statement> Parser::ParseMacro() {
  auto statement = std::make_unique<Statement>();
  statement->kind = StatementKind::kMacro;
  statement->text = TakeIdentifier();
  ExpectOperator("(");
  while (ok() && !IsOperator(")")) {
    if (!statement->targets.empty()) ExpectOperator(",");
    if (IsOperator(")")) break;
    statement->targets.push_back(TakeIdentifier());
    if (TakeOperator("=")) {
      statement->defaults.push_back(ParseCondition());
    } else if (!statement->defaults.empty()) {
      FailHere("'=' for a parameter after one with a default");
    }
  }
  ExpectOperator(")");
  ExpectEndBlock();
  const int loops = std::exchange(loops_, 0);
  statement->body = ParseBody({"endmacro"});
  loops_ = loops;
  if (!ok()) return statement;
  Next();  // {%
  ExpectName("endmacro");
  TakeName(statement->text);
  ExpectEndBlock();
  return statement;
}

std::unique_ptr<Statement> Parser::ParseFilterBlock() {
  auto statement = std::make_unique<Statement>();
  statement->kind = StatementKind::kFilter;
  auto filter = std::make_unique<Expression>();
  filter->kind = Kind::kFilter;
  filter->position = Peek().position;
  filter->operands.push_back(Make(Kind::kName, Peek().position, {}, kBlockText));
  filter->text = TakeIdentifier();
  if (TakeOperator("(")) ParseArguments(*filter);
  statement->value = ParseFilters(Finish(std::move(filter)));
  ExpectEndBlock();
  statement->body = ParseBody({"endfilter"});
  EndBlock("endfilter");
  return statement;
}

std::vector<std::string> Parser::ParseTargets(bool with_attributes) {
  std::vector<std::string> targets;
  const bool parentheses = TakeOperator("(");
  do {
    if (!targets.empty() && parentheses && IsOperator(")")) break;
    std::string target = TakeIdentifier();
    if (with_attributes && TakeOperator(".")) target += "." + TakeIdentifier();
    targets.push_back(std::move(target));
  } while (ok() && TakeOperator(","));
  if (parentheses) ExpectOperator(")");
  return targets;
}

}  // namespace tg::jinja
