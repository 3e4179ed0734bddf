// The expressions of a template: Jinja's precedence, from conditionals down to names.
#include <algorithm>
#include <charconv>
#include <cstdlib>

#include "absl/strings/str_cat.h"
#include "frontend/tokenizer/jinja/parser.h"

namespace tg::jinja {
namespace {

constexpr std::string_view kComparisons[] = {"==", "!=", "<", "<=", ">", ">="};

}  // namespace

ExpressionPtr Parser::Finish(std::unique_ptr<Expression> node) {
  if (!ok()) return nullptr;
  const auto deepen = [&node](const ExpressionPtr& operand) {
    if (operand != nullptr) node->depth = std::max(node->depth, operand->depth + 1);
  };
  for (const ExpressionPtr& operand : node->operands) deepen(operand);
  for (const auto& [name, operand] : node->named) deepen(operand);
  if (node->depth > kMaxDepth) {
    Fail(node->position, "nested too deeply");
    return nullptr;
  }
  return node;
}

ExpressionPtr Parser::Make(Kind kind, size_t position, std::vector<ExpressionPtr> operands,
                           std::string text) {
  auto node = std::make_unique<Expression>();
  node->kind = kind;
  node->position = position;
  node->text = std::move(text);
  node->operands = std::move(operands);
  return Finish(std::move(node));
}

ExpressionPtr Parser::ParseExpression() {
  ExpressionPtr first = ParseCondition();
  if (!ok() || !IsOperator(",")) return first;
  const size_t position = Peek().position;
  std::vector<ExpressionPtr> items;
  items.push_back(std::move(first));
  while (ok() && TakeOperator(",")) {
    if (Peek().kind == TokenKind::kEndOutput || Peek().kind == TokenKind::kEndBlock) break;
    items.push_back(ParseCondition());
  }
  return Make(Kind::kList, position, std::move(items));
}

ExpressionPtr Parser::ParseCondition(bool with_if) {
  Nested nested(*this);
  if (nested.TooDeep()) return nullptr;
  ExpressionPtr value = ParseOr();
  while (ok() && with_if && IsName("if")) {
    const size_t position = Next().position;
    ExpressionPtr condition = ParseOr();
    ExpressionPtr otherwise = TakeName("else") ? ParseCondition() : nullptr;
    value = MakeOf(Kind::kConditional, position, "", std::move(condition), std::move(value),
                   std::move(otherwise));
  }
  return value;
}

ExpressionPtr Parser::ParseOr() {
  ExpressionPtr value = ParseAnd();
  while (ok() && IsName("or")) {
    const size_t position = Next().position;
    value = MakeOf(Kind::kOr, position, "", std::move(value), ParseAnd());
  }
  return value;
}

ExpressionPtr Parser::ParseAnd() {
  ExpressionPtr value = ParseNot();
  while (ok() && IsName("and")) {
    const size_t position = Next().position;
    value = MakeOf(Kind::kAnd, position, "", std::move(value), ParseNot());
  }
  return value;
}

ExpressionPtr Parser::ParseNot() {
  Nested nested(*this);
  if (nested.TooDeep()) return nullptr;
  if (!IsName("not")) return ParseCompare();
  const size_t position = Next().position;
  return MakeOf(Kind::kNot, position, "", ParseNot());
}

ExpressionPtr Parser::ParseCompare() {
  auto node = std::make_unique<Expression>();
  node->kind = Kind::kCompare;
  node->operands.push_back(ParseSum());
  while (ok()) {
    const Token token = Peek();
    const Token& after = tokens_[std::min(at_ + 1, tokens_.size() - 1)];
    std::string comparison;
    if (token.kind == TokenKind::kOperator &&
        std::find(std::begin(kComparisons), std::end(kComparisons), token.text) !=
            std::end(kComparisons)) {
      comparison = token.text;
    } else if (IsName("in")) {
      comparison = "in";
    } else if (IsName("not") && after.kind == TokenKind::kName && after.text == "in") {
      comparison = "not in";
      Next();
    } else {
      break;
    }
    Next();
    if (node->operators.empty()) node->position = token.position;
    node->operators.push_back(std::move(comparison));
    node->operands.push_back(ParseSum());
  }
  if (node->operators.empty()) return std::move(node->operands[0]);
  return Finish(std::move(node));
}

ExpressionPtr Parser::ParseSum() {
  ExpressionPtr value = ParseConcat();
  while (ok() && (IsOperator("+") || IsOperator("-"))) {
    const Token token = Next();
    value = MakeOf(Kind::kBinary, token.position, token.text, std::move(value), ParseConcat());
  }
  return value;
}

ExpressionPtr Parser::ParseConcat() {
  const size_t position = Peek().position;
  std::vector<ExpressionPtr> parts;
  parts.push_back(ParseProduct());
  while (ok() && TakeOperator("~")) parts.push_back(ParseProduct());
  if (parts.size() == 1) return std::move(parts[0]);
  return Make(Kind::kConcat, position, std::move(parts));
}

ExpressionPtr Parser::ParseProduct() {
  ExpressionPtr value = ParsePower();
  while (ok() && (IsOperator("*") || IsOperator("/") || IsOperator("//") || IsOperator("%"))) {
    const Token token = Next();
    value = MakeOf(Kind::kBinary, token.position, token.text, std::move(value), ParsePower());
  }
  return value;
}

ExpressionPtr Parser::ParsePower() {
  ExpressionPtr value = ParseUnary();
  while (ok() && IsOperator("**")) {
    const Token token = Next();
    value = MakeOf(Kind::kBinary, token.position, token.text, std::move(value), ParseUnary());
  }
  return value;
}

ExpressionPtr Parser::ParseUnary(bool with_filters) {
  Nested nested(*this);
  if (nested.TooDeep()) return nullptr;
  ExpressionPtr value;
  if (IsOperator("-") || IsOperator("+")) {
    const Token token = Next();
    const Kind kind = token.text == "-" ? Kind::kNegative : Kind::kPositive;
    value = MakeOf(kind, token.position, "", ParseUnary(false));
  } else {
    value = ParsePrimary();
  }
  value = ParsePostfix(std::move(value));
  return with_filters ? ParseFilters(std::move(value)) : std::move(value);
}

ExpressionPtr Parser::ParsePrimary() {
  if (!ok()) return nullptr;
  const Token token = Peek();
  const auto literal = [&](Value value) {
    auto node = std::make_unique<Expression>();
    node->kind = Kind::kLiteral;
    node->position = token.position;
    node->value = std::move(value);
    return Finish(std::move(node));
  };
  switch (token.kind) {
    case TokenKind::kName:
      Next();
      if (token.text == "true" || token.text == "True") return literal(Value::Bool(true));
      if (token.text == "false" || token.text == "False") return literal(Value::Bool(false));
      if (token.text == "none" || token.text == "None") return literal(Value::None());
      return Make(Kind::kName, token.position, {}, token.text);
    case TokenKind::kString: {
      std::string text;
      while (Peek().kind == TokenKind::kString) text += Next().text;
      return literal(Value::String(std::move(text)));
    }
    case TokenKind::kInteger:
    case TokenKind::kFloat: {
      Next();
      if (token.kind == TokenKind::kFloat) {
        return literal(Value::Float(std::strtod(token.text.c_str(), nullptr)));
      }
      int64_t value = 0;
      const char* end = token.text.data() + token.text.size();
      if (std::from_chars(token.text.data(), end, value).ec != std::errc()) {
        Fail(token.position, "the number is too large");
        return nullptr;
      }
      return literal(Value::Int(value));
    }
    case TokenKind::kText:
    case TokenKind::kBeginOutput:
    case TokenKind::kEndOutput:
    case TokenKind::kBeginBlock:
    case TokenKind::kEndBlock:
    case TokenKind::kOperator:
    case TokenKind::kEnd:
      break;
  }
  if (IsOperator("(")) return ParseParentheses();
  if (IsOperator("[")) return ParseList();
  if (IsOperator("{")) return ParseDict();
  FailHere("an expression");
  return nullptr;
}

ExpressionPtr Parser::ParseParentheses() {
  const size_t position = Next().position;
  std::vector<ExpressionPtr> items;
  bool is_tuple = IsOperator(")");
  while (ok() && !IsOperator(")")) {
    items.push_back(ParseCondition());
    if (!TakeOperator(",")) break;
    is_tuple = true;
  }
  ExpectOperator(")");
  if (!ok()) return nullptr;
  if (!is_tuple) return std::move(items[0]);
  return Make(Kind::kList, position, std::move(items));
}

ExpressionPtr Parser::ParseList() {
  const size_t position = Next().position;
  std::vector<ExpressionPtr> items;
  while (ok() && !IsOperator("]")) {
    items.push_back(ParseCondition());
    if (!TakeOperator(",")) break;
  }
  ExpectOperator("]");
  return Make(Kind::kList, position, std::move(items));
}

ExpressionPtr Parser::ParseDict() {
  const size_t position = Next().position;
  std::vector<ExpressionPtr> items;
  while (ok() && !IsOperator("}")) {
    items.push_back(ParseCondition());
    ExpectOperator(":");
    items.push_back(ParseCondition());
    if (!TakeOperator(",")) break;
  }
  ExpectOperator("}");
  return Make(Kind::kDict, position, std::move(items));
}

ExpressionPtr Parser::ParsePostfix(ExpressionPtr value) {
  while (ok()) {
    const size_t position = Peek().position;
    if (TakeOperator(".")) {
      if (Peek().kind == TokenKind::kInteger) {
        value = MakeOf(Kind::kItem, position, "", std::move(value), ParsePrimary());
      } else {
        value = MakeOf(Kind::kAttribute, position, TakeIdentifier(), std::move(value));
      }
    } else if (IsOperator("[")) {
      value = ParseSubscript(std::move(value));
    } else if (TakeOperator("(")) {
      auto call = std::make_unique<Expression>();
      call->kind = Kind::kCall;
      call->position = position;
      call->operands.push_back(std::move(value));
      ParseArguments(*call);
      value = Finish(std::move(call));
    } else {
      break;
    }
  }
  return value;
}

ExpressionPtr Parser::ParseSubscript(ExpressionPtr value) {
  const size_t position = Next().position;
  std::vector<ExpressionPtr> parts;
  parts.push_back(std::move(value));
  bool is_slice = false;
  const auto part = [&]() -> ExpressionPtr {
    return IsOperator(":") || IsOperator("]") ? nullptr : ParseCondition();
  };
  parts.push_back(part());
  while (ok() && parts.size() < 4 && TakeOperator(":")) {
    is_slice = true;
    parts.push_back(part());
  }
  if (ok() && parts.size() == 2 && parts[1] == nullptr) FailHere("an expression");
  ExpectOperator("]");
  if (is_slice) parts.resize(4);
  return Make(is_slice ? Kind::kSlice : Kind::kItem, position, std::move(parts));
}

// What follows "(", up to ")".
void Parser::ParseArguments(Expression& call) {
  bool first = true;
  while (ok() && !IsOperator(")")) {
    if (!first) ExpectOperator(",");
    first = false;
    if (IsOperator(")")) break;
    if (IsOperator("*") || IsOperator("**")) {
      const Token token = Next();
      call.operands.push_back(MakeOf(Kind::kSpread, token.position, token.text, ParseCondition()));
      continue;
    }
    const Token& after = tokens_[std::min(at_ + 1, tokens_.size() - 1)];
    if (Peek().kind == TokenKind::kName && after.kind == TokenKind::kOperator &&
        after.text == "=") {
      std::string name = Next().text;
      Next();
      call.named.emplace_back(std::move(name), ParseCondition());
    } else if (call.named.empty()) {
      call.operands.push_back(ParseCondition());
    } else {
      FailHere("an argument with a name");
    }
  }
  ExpectOperator(")");
}

ExpressionPtr Parser::ParseFilters(ExpressionPtr value) {
  while (ok()) {
    const size_t position = Peek().position;
    if (TakeOperator("|")) {
      auto filter = std::make_unique<Expression>();
      filter->kind = Kind::kFilter;
      filter->position = position;
      filter->operands.push_back(std::move(value));
      filter->text = TakeIdentifier();
      if (TakeOperator("(")) ParseArguments(*filter);
      value = Finish(std::move(filter));
    } else if (IsName("is")) {
      value = ParseTest(std::move(value));
    } else if (IsOperator("(")) {
      value = ParsePostfix(std::move(value));
    } else {
      break;
    }
  }
  return value;
}

ExpressionPtr Parser::ParseTest(ExpressionPtr value) {
  const size_t position = Next().position;
  const bool negated = TakeName("not");
  auto test = std::make_unique<Expression>();
  test->kind = Kind::kTest;
  test->position = position;
  test->operands.push_back(std::move(value));
  test->text = TakeIdentifier();
  const auto starts_argument = [this] {
    switch (Peek().kind) {
      case TokenKind::kString:
      case TokenKind::kInteger:
      case TokenKind::kFloat:
        return true;
      case TokenKind::kName:
        for (const std::string_view word :
             {"else", "or", "and", "if", "is", "in", "not", "recursive"}) {
          if (IsName(word)) return false;
        }
        return true;
      case TokenKind::kOperator:
        return IsOperator("[") || IsOperator("{");
      case TokenKind::kText:
      case TokenKind::kBeginOutput:
      case TokenKind::kEndOutput:
      case TokenKind::kBeginBlock:
      case TokenKind::kEndBlock:
      case TokenKind::kEnd:
        return false;
    }
    return false;
  };
  if (TakeOperator("(")) {
    ParseArguments(*test);
  } else if (starts_argument()) {
    test->operands.push_back(ParsePostfix(ParsePrimary()));
  }
  ExpressionPtr result = Finish(std::move(test));
  return negated ? MakeOf(Kind::kNot, position, "", std::move(result)) : std::move(result);
}

}  // namespace tg::jinja
