// Values of expressions, as Python has them.
#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "frontend/tokenizer/jinja/evaluator.h"

namespace tg::jinja {
namespace {

// Bounds the recursion, like kMaxCalls in evaluator.cc. Each level of an expression counts.
constexpr int kMaxNesting = 600;

// Python's index of a slice's border: from the end if negative, then inside of [low, high].
int64_t Border(const Value& value, int64_t size, int64_t otherwise, int64_t low, int64_t high) {
  if (!value.is(Kind::kInt)) return otherwise;
  const int64_t index = value.AsInt();
  return std::clamp(index < 0 ? (index < -size ? -1 : index + size) : index, low, high);
}

}  // namespace

Value Evaluator::Evaluate(const Expression& expression, Scope& scope) {
  if (failed() || !Charge(expression.position, 1)) return Value();
  if (++depth_ > kMaxNesting) Fail(expression.position, "macros call each other too deeply");
  Value value = failed() ? Value() : EvaluateKind(expression, scope);
  --depth_;
  return failed() ? Value() : value;
}

Value Evaluator::EvaluateKind(const Expression& expression, Scope& scope) {
  const size_t position = expression.position;
  const auto operand = [&](size_t i) { return Evaluate(*expression.operands[i], scope); };
  switch (expression.kind) {
    case ExpressionKind::kLiteral:
      return expression.value;
    case ExpressionKind::kName:
      return EvaluateName(expression, scope);
    case ExpressionKind::kList: {
      List items;
      for (size_t i = 0; i < expression.operands.size(); ++i) items.push_back(operand(i));
      return MakeList(position, std::move(items));
    }
    case ExpressionKind::kDict: {
      Dict entries;
      for (size_t i = 0; i + 1 < expression.operands.size(); i += 2) {
        Value key = operand(i), value = operand(i + 1);
        const auto same = std::find_if(entries.begin(), entries.end(),
                                       [&key](const Entry& e) { return e.first.Equals(key); });
        if (same != entries.end()) {
          same->second = std::move(value);
        } else {
          entries.emplace_back(std::move(key), std::move(value));
        }
      }
      return MakeDict(position, std::move(entries));
    }
    case ExpressionKind::kAttribute: {
      const Value value = operand(0);
      return failed() ? Value() : Attribute(position, value, expression.text);
    }
    case ExpressionKind::kItem: {
      const Value value = operand(0), key = operand(1);
      return failed() ? Value() : Item(position, value, key);
    }
    case ExpressionKind::kSlice:
      return EvaluateSlice(expression, scope);
    case ExpressionKind::kCall:
      return EvaluateCall(expression, scope);
    case ExpressionKind::kSpread:
      return Fail(position, "'*' is for arguments");
    case ExpressionKind::kFilter:
    case ExpressionKind::kTest: {
      const bool is_filter = expression.kind == ExpressionKind::kFilter;
      const BuiltinRow* row = FindRow(is_filter ? Filters() : Tests(), expression.text);
      if (row == nullptr) {
        return Fail(position, absl::StrCat("there is no ", is_filter ? "filter" : "test", " '",
                                           expression.text, "'"));
      }
      const Value self = operand(0);
      Named named;
      List values = EvaluateArguments(expression, 1, scope, named);
      return CallBuiltin(position, *row, self, std::move(values), std::move(named));
    }
    case ExpressionKind::kNot:
      return Value::Bool(!operand(0).IsTrue());
    case ExpressionKind::kNegative:
    case ExpressionKind::kPositive: {
      const Value value = operand(0);
      if (!failed() && !value.IsNumber()) return Fail(position, "the sign of what is no number");
      if (failed() || expression.kind == ExpressionKind::kPositive) return value;
      if (value.is(Kind::kFloat)) return Value::Float(-value.AsNumber());
      return EvaluateInteger(expression, 0, value.AsInteger());
    }
    case ExpressionKind::kBinary: {
      const Value left = operand(0), right = operand(1);
      return failed() ? Value() : EvaluateBinary(expression, left, right);
    }
    case ExpressionKind::kConcat: {
      std::string out;
      for (size_t i = 0; i < expression.operands.size(); ++i) {
        const Value part = operand(i);
        if (failed() || !ChargeFor(position, part)) return Value();
        Write(position, part.ToString(), out);
      }
      return MakeString(position, std::move(out));
    }
    case ExpressionKind::kCompare:
      return EvaluateCompare(expression, scope);
    case ExpressionKind::kAnd: {
      Value left = operand(0);
      return left.IsTrue() ? operand(1) : left;
    }
    case ExpressionKind::kOr: {
      Value left = operand(0);
      return left.IsTrue() ? left : operand(1);
    }
    case ExpressionKind::kConditional:
      if (operand(0).IsTrue()) return operand(1);
      return expression.operands[2] == nullptr ? Value() : operand(2);
  }
  return Value();
}

Value Evaluator::EvaluateName(const Expression& expression, const Scope& scope) {
  const size_t searched = scope.variables.size() + root_.variables.size();
  if (!Charge(expression.position, searched / 16)) return Value();
  if (const Value* value = scope.Find(expression.text)) return *value;
  const BuiltinRow* row = FindRow(Globals(), expression.text);
  if (row == nullptr) return Value();
  auto function = std::make_shared<Function>();
  function->builtin = row;
  return Value::Of(std::move(function));
}

Value Evaluator::Attribute(size_t position, const Value& value, std::string_view name) {
  if (value.is(Kind::kUndefined)) {
    return Fail(position, absl::StrCat("'", std::string(name), "' of what is not defined"));
  }
  if (value.is(Kind::kNamespace)) {
    const auto& variables = value.AsNamespace()->variables;
    const auto variable = variables.find(name);
    return variable == variables.end() ? Value() : variable->second;
  }
  if (const BuiltinRow* row = FindRow(Methods(value.kind()), name)) {
    auto method = std::make_shared<Function>();
    method->builtin = row;
    method->self = value;
    return Value::Of(std::move(method));
  }
  const Value* found = value.is(Kind::kDict) ? value.Find(name) : nullptr;
  return found == nullptr ? Value() : *found;
}

Value Evaluator::Item(size_t position, const Value& value, const Value& key) {
  if (value.is(Kind::kDict)) {
    if (!Charge(position, value.AsDict().size() / 16)) return Value();
    if (const Value* found = value.Find(key)) return *found;
  }
  if (key.is(Kind::kString)) return Attribute(position, value, key.AsString());
  if (value.is(Kind::kUndefined)) return Fail(position, "an item of what is not defined");
  if (!key.is(Kind::kInt) && !key.is(Kind::kBool)) return Value();
  int64_t index = key.AsInteger();
  if (value.is(Kind::kList)) {
    const auto size = static_cast<int64_t>(value.AsList().size());
    if (index < 0) index += size;
    return index < 0 || index >= size ? Value() : value.AsList()[static_cast<size_t>(index)];
  }
  if (!value.is(Kind::kString) || !Charge(position, value.AsString().size() / 16)) return Value();
  const int64_t size = CountCharacters(value.AsString());
  if (index < 0) index += size;
  if (index < 0 || index >= size) return Value();
  return Value::String(std::string(Substring(value.AsString(), index, index + 1)));
}

Value Evaluator::EvaluateSlice(const Expression& expression, Scope& scope) {
  const size_t position = expression.position;
  const Value value = Evaluate(*expression.operands[0], scope);
  Value parts[3];
  for (size_t i = 0; i < 3; ++i) {
    if (expression.operands[i + 1] == nullptr) continue;
    parts[i] = Evaluate(*expression.operands[i + 1], scope);
    if (failed()) return Value();
    if (!parts[i].is(Kind::kInt) && !parts[i].is(Kind::kNone)) {
      return Fail(position, "the borders of a slice are integers");
    }
  }
  if (failed()) return Value();
  if (!value.is(Kind::kList) && !value.is(Kind::kString)) {
    return Fail(position, absl::StrCat("a slice of ", std::string(value.KindName())));
  }
  const int64_t step = parts[2].is(Kind::kInt) ? parts[2].AsInt() : 1;
  if (step == 0) return Fail(position, "the step of a slice is 0");
  if (step == 1 && value.is(Kind::kString)) {
    const std::string& text = value.AsString();
    if (!Charge(position, text.size() / 16)) return Value();
    const int64_t size = CountCharacters(text);
    const int64_t begin = Border(parts[0], size, 0, 0, size);
    const int64_t end = std::max(begin, Border(parts[1], size, size, 0, size));
    return MakeString(position, std::string(Substring(text, begin, end)));
  }
  const List items = Iterate(position, value);
  const auto size = static_cast<int64_t>(items.size());
  List chosen;
  if (step > 0) {
    const int64_t end = Border(parts[1], size, size, 0, size);
    for (int64_t i = Border(parts[0], size, 0, 0, size); i < end;) {
      chosen.push_back(items[static_cast<size_t>(i)]);
      if (step >= end - i) break;
      i += step;
    }
  } else {
    const int64_t end = Border(parts[1], size, -1, -1, size - 1);
    for (int64_t i = Border(parts[0], size, size - 1, -1, size - 1); i > end;) {
      chosen.push_back(items[static_cast<size_t>(i)]);
      if (step <= end - i) break;
      i += step;
    }
  }
  if (value.is(Kind::kList)) return MakeList(position, std::move(chosen));
  std::string text;
  for (const Value& character : chosen) text += character.AsString();
  return MakeString(position, std::move(text));
}

Value Evaluator::EvaluateInteger(const Expression& expression, int64_t left, int64_t right) {
  const size_t position = expression.position;
  const bool is_negative = expression.kind == ExpressionKind::kNegative;
  const std::string_view op = is_negative ? "-" : std::string_view(expression.text);
  int64_t result = 0;
  bool overflows = false;
  if (op == "+") {
    overflows = __builtin_add_overflow(left, right, &result);
  } else if (op == "-") {
    overflows = __builtin_sub_overflow(left, right, &result);
  } else if (op == "*") {
    overflows = __builtin_mul_overflow(left, right, &result);
  } else if (op == "/") {
    if (right == 0) return Fail(position, "division by zero");
    return Value::Float(static_cast<double>(left) / static_cast<double>(right));
  } else if (op == "**") {
    if (right < 0) return Value::Float(std::pow(left, right));
    result = 1;
    for (int64_t i = 0; i < right && !overflows && result != 0 && left != 1; ++i) {
      overflows = __builtin_mul_overflow(result, left, &result);
      if (!Charge(position, 1)) return Value();
    }
  } else {  // "//" and "%", which round towards minus infinity
    if (right == 0) return Fail(position, "division by zero");
    if (right == -1) {
      if (op == "%") return Value::Int(0);
      overflows = __builtin_sub_overflow(0, left, &result);
    } else {
      const int64_t remainder = left % right;
      const bool adjust = remainder != 0 && (remainder < 0) != (right < 0);
      result = op == "//" ? left / right - adjust : remainder + (adjust ? right : 0);
    }
  }
  return overflows ? Fail(position, "the integer is too large") : Value::Int(result);
}

Value Evaluator::EvaluateBinary(const Expression& expression, const Value& left,
                                const Value& right) {
  const std::string_view op = expression.text;
  const size_t position = expression.position;
  if (left.IsNumber() && right.IsNumber()) {
    if (!left.is(Kind::kFloat) && !right.is(Kind::kFloat)) {
      return EvaluateInteger(expression, left.AsInteger(), right.AsInteger());
    }
    const double a = left.AsNumber(), b = right.AsNumber();
    if (op == "+") return Value::Float(a + b);
    if (op == "-") return Value::Float(a - b);
    if (op == "*") return Value::Float(a * b);
    if (op == "**") return Value::Float(std::pow(a, b));
    if (b == 0) return Fail(position, "division by zero");
    if (op == "/") return Value::Float(a / b);
    if (op == "//") return Value::Float(std::floor(a / b));
    const double remainder = std::fmod(a, b);
    return Value::Float(remainder != 0 && (remainder < 0) != (b < 0) ? remainder + b : remainder);
  }
  if (op == "+" && left.is(Kind::kString) && right.is(Kind::kString)) {
    return MakeString(position, left.AsString() + right.AsString());
  }
  if (op == "+" && left.is(Kind::kList) && right.is(Kind::kList)) {
    List items = left.AsList();
    items.insert(items.end(), right.AsList().begin(), right.AsList().end());
    return MakeList(position, std::move(items));
  }
  const auto is_sequence = [](const Value& v) { return v.is(Kind::kString) || v.is(Kind::kList); };
  const auto is_count = [](const Value& v) { return v.is(Kind::kInt) || v.is(Kind::kBool); };
  if (op == "*" && is_sequence(left) && is_count(right)) {
    return Repeat(position, left, right.AsInteger());
  }
  if (op == "*" && is_sequence(right) && is_count(left)) {
    return Repeat(position, right, left.AsInteger());
  }
  return Fail(position, absl::StrCat("'", std::string(op), "' of ", std::string(left.KindName()),
                                     " and ", std::string(right.KindName())));
}

Value Evaluator::Repeat(size_t position, const Value& sequence, int64_t count) {
  count = std::max<int64_t>(count, 0);
  const bool is_list = sequence.is(Kind::kList);
  const size_t size = is_list ? sequence.AsList().size() : sequence.AsString().size();
  // So that the product does not overflow.
  constexpr int64_t kMost = int64_t{1} << 26;
  if (size > 0 && count > kMost / static_cast<int64_t>(size)) {
    return Fail(position, "the repetition is too long");
  }
  if (size == 0) count = 0;
  if (!Charge(position, static_cast<size_t>(count))) return Value();
  if (!is_list) {
    std::string text;
    for (int64_t i = 0; i < count; ++i) text += sequence.AsString();
    return MakeString(position, std::move(text));
  }
  if (!Charge(position, size * static_cast<size_t>(count))) return Value();
  List items;
  for (int64_t i = 0; i < count; ++i) {
    items.insert(items.end(), sequence.AsList().begin(), sequence.AsList().end());
  }
  return MakeList(position, std::move(items));
}

bool Evaluator::Contains(size_t position, const Value& container, const Value& item) {
  if (container.is(Kind::kString)) {
    if (!item.is(Kind::kString)) {
      Fail(position, absl::StrCat("'in' of ", std::string(item.KindName()), " and a string"));
      return false;
    }
    if (!Charge(position, container.AsString().size() / 16)) return false;
    return container.AsString().find(item.AsString()) != std::string::npos;
  }
  const List items = Iterate(position, container);
  return std::any_of(items.begin(), items.end(), [&](const Value& i) { return i.Equals(item); });
}

bool Evaluator::Compare(size_t position, std::string_view comparison, const Value& left,
                        const Value& right) {
  if (!ChargeFor(position, left) || !ChargeFor(position, right)) return false;
  if (comparison == "==") return left.Equals(right);
  if (comparison == "!=") return !left.Equals(right);
  if (comparison == "in") return Contains(position, right, left);
  if (comparison == "not in") return !Contains(position, right, left);
  const bool swapped = comparison == ">" || comparison == "<=";
  const std::optional<bool> less = swapped ? right.Less(left) : left.Less(right);
  if (!less) {
    Fail(position, absl::StrCat("'", std::string(comparison), "' of ", std::string(left.KindName()),
                                " and ", std::string(right.KindName())));
    return false;
  }
  return comparison.size() == 2 ? !*less : *less;
}

Value Evaluator::EvaluateCompare(const Expression& expression, Scope& scope) {
  Value left = Evaluate(*expression.operands[0], scope);
  for (size_t i = 0; i < expression.operators.size(); ++i) {
    Value right = Evaluate(*expression.operands[i + 1], scope);
    if (failed()) return Value();
    if (!Compare(expression.position, expression.operators[i], left, right)) {
      return Value::Bool(false);
    }
    left = std::move(right);
  }
  return Value::Bool(true);
}

Value Evaluator::EvaluateCall(const Expression& expression, Scope& scope) {
  const Value callee = Evaluate(*expression.operands[0], scope);
  Named named;
  List values = EvaluateArguments(expression, 1, scope, named);
  if (failed()) return Value();
  if (!callee.is(Kind::kFunction)) {
    const Expression& name = *expression.operands[0];
    const std::string what =
        name.text.empty() ? std::string(callee.KindName()) : absl::StrCat("'", name.text, "'");
    return Fail(expression.position, absl::StrCat(what, " is no function"));
  }
  const Function& function = callee.AsFunction();
  if (function.macro != nullptr) {
    return CallMacro(expression.position, *function.macro, std::move(values), std::move(named));
  }
  return CallBuiltin(expression.position, *function.builtin, function.self, std::move(values),
                     std::move(named));
}

}  // namespace tg::jinja
