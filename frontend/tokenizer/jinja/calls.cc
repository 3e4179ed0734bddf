// Calls of builtins and macros: arguments to parameters.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "frontend/tokenizer/jinja/evaluator.h"

namespace tg::jinja {

const BuiltinRow* FindRow(std::span<const BuiltinRow> rows, std::string_view name) {
  const auto row = std::find_if(rows.begin(), rows.end(),
                                [name](const BuiltinRow& r) { return r.name == name; });
  return row == rows.end() ? nullptr : &*row;
}

List Evaluator::EvaluateArguments(const Expression& expression, size_t skip, Scope& scope,
                                  Named& named) {
  List values;
  for (size_t i = skip; i < expression.operands.size() && !failed(); ++i) {
    const Expression& operand = *expression.operands[i];
    if (operand.kind != ExpressionKind::kSpread) {
      values.push_back(Evaluate(operand, scope));
      continue;
    }
    const Value spread = Evaluate(*operand.operands[0], scope);
    if (operand.text == "*") {
      for (Value& item : Iterate(operand.position, spread)) values.push_back(std::move(item));
    } else if (spread.is(Kind::kDict)) {
      for (const auto& [key, value] : spread.AsDict()) named.emplace_back(key.ToString(), value);
    } else {
      Fail(operand.position, absl::StrCat("'**' of ", std::string(spread.KindName())));
    }
  }
  for (const auto& [name, value] : expression.named) {
    if (!failed()) named.emplace_back(name, Evaluate(*value, scope));
  }
  return values;
}

Value Evaluator::CallBuiltin(size_t position, const BuiltinRow& row, const Value& self, List values,
                             Named named) {
  if (!row.shallow) {
    ChargeFor(position, self);
    for (const Value& value : values) ChargeFor(position, value);
  }
  if (failed()) return Value();
  const std::string name(row.name);
  Arguments arguments{.position = position, .self = self};
  if (row.variadic) {
    arguments.values = std::move(values);
    arguments.named = std::move(named);
    return row.run(*this, arguments);
  }
  const auto count = static_cast<size_t>(
      std::find(row.parameters.begin(), row.parameters.end(), "") - row.parameters.begin());
  if (values.size() > count) {
    return Fail(position, absl::StrCat(name, " takes ", count, " arguments, not ", values.size()));
  }
  const size_t given = values.size();
  values.resize(count);
  std::vector<bool> has(count);
  std::fill_n(has.begin(), given, true);
  for (auto& [key, value] : named) {
    const auto parameter = std::find(row.parameters.begin(), row.parameters.begin() + count, key);
    const auto index = static_cast<size_t>(parameter - row.parameters.begin());
    if (index == count) return Fail(position, absl::StrCat(name, " has no parameter '", key, "'"));
    if (has[index]) return Fail(position, absl::StrCat(name, " has two values for '", key, "'"));
    values[index] = std::move(value);
    has[index] = true;
  }
  if (std::find(has.begin(), has.begin() + row.required, false) != has.begin() + row.required) {
    return Fail(position, absl::StrCat(name, " needs ", row.required, " arguments"));
  }
  arguments.values = std::move(values);
  return row.run(*this, arguments);
}

Value Evaluator::CallMacro(size_t position, const Statement& macro, List values, Named named) {
  if (failed()) return Value();
  const std::vector<std::string>& parameters = macro.targets;
  const std::string& name = macro.text;
  if (values.size() > parameters.size()) {
    return Fail(position, absl::StrCat("macro ", name, " takes ", parameters.size(), " arguments"));
  }
  Scope scope{.parent = &root_};
  std::vector<bool> has(parameters.size());
  for (size_t i = 0; i < values.size(); ++i) {
    scope.Set(parameters[i], std::move(values[i]));
    has[i] = true;
  }
  for (auto& [key, value] : named) {
    const auto parameter = std::find(parameters.begin(), parameters.end(), key);
    const auto index = static_cast<size_t>(parameter - parameters.begin());
    if (index == parameters.size() || has[index]) {
      return Fail(position, absl::StrCat("macro ", name, " takes no argument '", key, "' here"));
    }
    scope.Set(parameters[index], std::move(value));
    has[index] = true;
  }
  const size_t first_default = parameters.size() - macro.defaults.size();
  for (size_t i = 0; i < parameters.size() && !failed(); ++i) {
    if (has[i]) continue;
    scope.Set(parameters[i],
              i < first_default ? Value() : Evaluate(*macro.defaults[i - first_default], scope));
  }
  std::string out;
  if (!failed()) Execute(macro.body, scope, out);
  return MakeString(position, std::move(out));
}

Value Evaluator::ApplyFilter(size_t position, std::string_view name, const Value& self,
                             List values) {
  const BuiltinRow* row = FindRow(Filters(), name);
  if (row == nullptr) {
    return Fail(position, absl::StrCat("there is no filter '", std::string(name), "'"));
  }
  return CallBuiltin(position, *row, self, std::move(values), {});
}

bool Evaluator::ApplyTest(size_t position, std::string_view name, const Value& self, List values) {
  const BuiltinRow* row = FindRow(Tests(), name);
  if (row == nullptr) {
    Fail(position, absl::StrCat("there is no test '", std::string(name), "'"));
    return false;
  }
  return CallBuiltin(position, *row, self, std::move(values), {}).IsTrue();
}

}  // namespace tg::jinja
