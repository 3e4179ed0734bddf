#include "frontend/tokenizer/jinja/evaluator.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "frontend/tokenizer/jinja/lexer.h"
#include "frontend/tokenizer/jinja/parser.h"

namespace tg::jinja {
namespace {

// Deep enough for macros that call macros; a thread's stack takes it, with a sanitizer too.
constexpr int kMaxCalls = 400;
constexpr size_t kMaxNamespaces = 10'000;

}  // namespace

absl::StatusOr<std::shared_ptr<const Program>> Program::Parse(std::string_view text) {
  auto program = std::make_shared<Program>();
  program->text_ = NormalizeLines(text);
  auto tokens = Lex(program->text_);
  if (!tokens.ok()) return tokens.status();
  Parser parser(program->text_, *std::move(tokens));
  program->body_ = parser.ParseTemplate();
  if (!parser.status().ok()) return parser.status();
  return program;
}

absl::StatusOr<std::string> Program::Render(const Value& variables, std::time_t now,
                                            const Limits& limits) const {
  return Evaluator(*this, variables, now, limits).Run();
}

const Value* Scope::Find(std::string_view name) const {
  for (const Scope* scope = this; scope != nullptr; scope = scope->parent) {
    for (const auto& [key, value] : scope->variables) {
      if (key == name) return &value;
    }
  }
  return nullptr;
}

void Scope::Set(std::string_view name, Value value) {
  for (auto& [key, old] : variables) {
    if (key != name) continue;
    old = std::move(value);
    return;
  }
  variables.emplace_back(name, std::move(value));
}

Evaluator::Evaluator(const Program& program, const Value& variables, std::time_t now,
                     const Limits& limits)
    : program_(program), now_(now), limits_(limits) {
  for (const auto& [name, value] : variables.AsDict()) root_.Set(name.AsString(), value);
}

absl::StatusOr<std::string> Evaluator::Run() {
  std::string out;
  Execute(program_.body(), root_, out);
  if (failed()) return status_;
  return out;
}

Value Evaluator::Fail(size_t position, std::string_view message) {
  if (status_.ok()) status_ = ErrorAt(program_.text(), position, message);
  return Value();
}

bool Evaluator::Charge(size_t position, size_t steps) {
  steps_ += steps;
  if (steps_ > limits_.steps) Fail(position, "the template takes too many steps");
  return !failed();
}

bool Evaluator::ChargeFor(size_t position, const Value& value) {
  constexpr uint64_t kWeightOfStep = 64;
  return Charge(position, value.weight() / kWeightOfStep);
}

Value Evaluator::MakeString(size_t position, std::string text) {
  bytes_ += text.size();
  if (bytes_ > limits_.bytes) return Fail(position, "the template makes too much text");
  return Value::String(std::move(text));
}

Value Evaluator::MakeList(size_t position, List items) {
  if (!Charge(position, items.size())) return Value();
  Value list = Value::Of(std::move(items));
  return list.is(Kind::kUndefined) ? Fail(position, "a list is too deep or too large") : list;
}

Value Evaluator::MakeDict(size_t position, Dict entries) {
  if (!Charge(position, entries.size())) return Value();
  Value dict = Value::Of(std::move(entries));
  return dict.is(Kind::kUndefined) ? Fail(position, "a dictionary is too deep or too large") : dict;
}

Value Evaluator::MakeNamespace(size_t position) {
  if (namespaces_.size() >= kMaxNamespaces) return Fail(position, "there are too many namespaces");
  return Value::Of(&namespaces_.emplace_back());
}

void Evaluator::Write(size_t position, std::string_view text, std::string& out) {
  bytes_ += text.size();
  if (bytes_ > limits_.bytes) Fail(position, "the template makes too much text");
  if (!failed()) out += text;
}

Evaluator::Flow Evaluator::Execute(const Body& body, Scope& scope, std::string& out) {
  if (++depth_ > kMaxCalls) {
    Fail(body.empty() ? 0 : body[0]->position, "macros call each other too deeply");
  }
  Flow flow = Flow::kNext;
  for (size_t i = 0; i < body.size() && flow == Flow::kNext && !failed(); ++i) {
    if (Charge(body[i]->position, 1)) flow = ExecuteOne(*body[i], scope, out);
  }
  --depth_;
  return flow;
}

Evaluator::Flow Evaluator::ExecuteOne(const Statement& statement, Scope& scope, std::string& out) {
  switch (statement.kind) {
    case StatementKind::kText:
      Write(statement.position, statement.text, out);
      break;
    case StatementKind::kOutput: {
      const Value value = Evaluate(*statement.value, scope);
      if (failed()) break;
      if (value.is(Kind::kString)) {
        Write(statement.position, value.AsString(), out);
      } else if (ChargeFor(statement.position, value)) {
        Write(statement.position, value.ToString(), out);
      }
      break;
    }
    case StatementKind::kIf:
      return ExecuteIf(statement, scope, out);
    case StatementKind::kFor:
      return ExecuteFor(statement, scope, out);
    case StatementKind::kSet:
    case StatementKind::kSetBlock:
      ExecuteSet(statement, scope);
      break;
    case StatementKind::kMacro: {
      auto function = std::make_shared<Function>();
      function->macro = &statement;
      scope.Set(statement.text, Value::Of(std::move(function)));
      break;
    }
    case StatementKind::kFilter:
      Write(statement.position, CaptureFiltered(statement, scope).ToString(), out);
      break;
    case StatementKind::kBreak:
      return Flow::kBreak;
    case StatementKind::kContinue:
      return Flow::kContinue;
  }
  return Flow::kNext;
}

Evaluator::Flow Evaluator::ExecuteIf(const Statement& statement, Scope& scope, std::string& out) {
  for (const Branch& branch : statement.branches) {
    const bool taken = branch.condition == nullptr || Evaluate(*branch.condition, scope).IsTrue();
    if (failed()) break;
    if (taken) return Execute(branch.body, scope, out);
  }
  return Flow::kNext;
}

Value Evaluator::LoopVariable(size_t position, const List& items, size_t index) {
  static constexpr BuiltinRow kCycle = {
      .name = "cycle",
      .run =
          [](Evaluator& evaluator, const Arguments& arguments) {
            if (arguments.values.empty())
              return evaluator.Fail(arguments.position, "cycle() of nothing");
            const auto turn = static_cast<size_t>(arguments.self.AsInt());
            return arguments.values[turn % arguments.values.size()];
          },
      .variadic = true,
      .shallow = true};
  const auto integer = [](size_t value) { return Value::Int(static_cast<int64_t>(value)); };
  auto cycle = std::make_shared<Function>();
  cycle->builtin = &kCycle;
  cycle->self = integer(index);
  const size_t count = items.size();
  Dict loop;
  const auto set = [&loop](const char* name, Value value) {
    loop.emplace_back(Value::String(name), std::move(value));
  };
  set("index", integer(index + 1));
  set("index0", integer(index));
  set("revindex", integer(count - index));
  set("revindex0", integer(count - index - 1));
  set("first", Value::Bool(index == 0));
  set("last", Value::Bool(index + 1 == count));
  set("length", integer(count));
  set("cycle", Value::Of(std::move(cycle)));
  // `loop` nests these items one level deeper, which must not exceed the limit.
  const auto fits = [](const Value& item) { return item.depth() < Value::kMaxDepth; };
  if (index > 0 && fits(items[index - 1])) set("previtem", items[index - 1]);
  if (index + 1 < count && fits(items[index + 1])) set("nextitem", items[index + 1]);
  return MakeDict(position, std::move(loop));
}

Evaluator::Flow Evaluator::ExecuteFor(const Statement& statement, Scope& scope, std::string& out) {
  List items = Iterate(statement.position, Evaluate(*statement.value, scope));
  if (statement.condition != nullptr) {
    List chosen;
    for (Value& item : items) {
      Scope turn{.parent = &scope};
      Bind(statement.position, statement.targets, item, turn);
      const bool taken = !failed() && Evaluate(*statement.condition, turn).IsTrue();
      if (failed()) return Flow::kNext;
      if (taken) chosen.push_back(std::move(item));
    }
    items = std::move(chosen);
  }
  if (failed()) return Flow::kNext;
  if (items.empty()) return Execute(statement.else_body, scope, out);
  for (size_t i = 0; i < items.size(); ++i) {
    Scope turn{.parent = &scope};
    turn.Set("loop", LoopVariable(statement.position, items, i));
    Bind(statement.position, statement.targets, items[i], turn);
    if (failed()) break;
    const Flow flow = Execute(statement.body, turn, out);
    if (failed() || flow == Flow::kBreak) break;
  }
  return Flow::kNext;
}

void Evaluator::Bind(size_t position, const std::vector<std::string>& targets, Value value,
                     Scope& scope) {
  if (targets.size() == 1) return Assign(position, targets[0], std::move(value), scope);
  const List items = Iterate(position, value);
  if (failed()) return;
  if (items.size() != targets.size()) {
    Fail(position, absl::StrCat(targets.size(), " names for ", items.size(), " values"));
    return;
  }
  for (size_t i = 0; i < items.size(); ++i) Assign(position, targets[i], items[i], scope);
}

void Evaluator::Assign(size_t position, std::string_view target, Value value, Scope& scope) {
  const size_t dot = target.find('.');
  if (dot == target.npos) return scope.Set(target, std::move(value));
  const std::string_view name = target.substr(0, dot);
  const Value* variables = scope.Find(name);
  if (variables == nullptr || !variables->is(Kind::kNamespace)) {
    Fail(position, absl::StrCat("'", std::string(name), "' is no namespace()"));
    return;
  }
  variables->AsNamespace()->variables[std::string(target.substr(dot + 1))] = std::move(value);
}

std::string Evaluator::Capture(const Body& body, Scope& scope) {
  std::string text;
  Scope inner{.parent = &scope};
  Execute(body, inner, text);
  return text;
}

Value Evaluator::CaptureFiltered(const Statement& statement, Scope& scope) {
  Value text = MakeString(statement.position, Capture(statement.body, scope));
  if (failed() || statement.value == nullptr) return text;
  Scope inner{.parent = &scope};
  inner.Set(kBlockText, std::move(text));
  return Evaluate(*statement.value, inner);
}

void Evaluator::ExecuteSet(const Statement& statement, Scope& scope) {
  Value value = statement.kind == StatementKind::kSetBlock ? CaptureFiltered(statement, scope)
                                                           : Evaluate(*statement.value, scope);
  if (!failed()) Bind(statement.position, statement.targets, std::move(value), scope);
}

List Evaluator::Iterate(size_t position, const Value& value) {
  List items;
  switch (value.kind()) {
    case Kind::kUndefined:
      return items;
    case Kind::kList:
      items = value.AsList();
      break;
    case Kind::kDict:
      for (const auto& [key, entry] : value.AsDict()) items.push_back(key);
      break;
    case Kind::kString:
      // A value for each character takes much more memory than the character.
      if (!Charge(position, 4 * value.AsString().size())) return items;
      for (const std::string_view character : Characters(value.AsString())) {
        items.push_back(Value::String(std::string(character)));
      }
      break;
    case Kind::kNone:
    case Kind::kBool:
    case Kind::kInt:
    case Kind::kFloat:
    case Kind::kNamespace:
    case Kind::kFunction:
      Fail(position, absl::StrCat(std::string(value.KindName()), " has no items"));
      return items;
  }
  Charge(position, items.size());
  return items;
}

}  // namespace tg::jinja
