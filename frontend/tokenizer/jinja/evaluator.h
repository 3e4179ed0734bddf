// Runs a template once. The first error ends the run: after Fail every function returns at once,
// and callers that loop check failed().
#ifndef TG_FRONTEND_TOKENIZER_JINJA_EVALUATOR_H_
#define TG_FRONTEND_TOKENIZER_JINJA_EVALUATOR_H_

#include <cstddef>
#include <cstdint>
#include <ctime>
#include <list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "frontend/tokenizer/jinja/function.h"
#include "frontend/tokenizer/jinja/program.h"

namespace tg::jinja {

// The variables of a template, a macro or a turn of a loop.
struct Scope {
  const Scope* parent = nullptr;
  std::vector<std::pair<std::string_view, Value>> variables;

  const Value* Find(std::string_view name) const;  // here or in a parent
  void Set(std::string_view name, Value value);    // here; `name` must outlive the scope
};

class Evaluator {
 public:
  // All must outlive the evaluator. `now`: for templates that write the date.
  Evaluator(const Program& program, const Value& variables, std::time_t now, const Limits& limits);

  absl::StatusOr<std::string> Run();

  // --- For builtins ---
  bool failed() const { return !status_.ok(); }
  std::time_t Now() const { return now_; }
  // Sets the error, if there is none yet; undefined.
  Value Fail(size_t position, std::string_view message);
  // Values whose size counts: memory is bounded.
  Value MakeString(size_t position, std::string text);
  Value MakeList(size_t position, List items);
  Value MakeDict(size_t position, Dict entries);
  Value MakeNamespace(size_t position);
  // Appends to a text that is being made.
  void Write(size_t position, std::string_view text, std::string& out);
  // Counts work that grows with an input; false if there was too much of it.
  bool Charge(size_t position, size_t steps);
  // Counts going through all of a value once.
  bool ChargeFor(size_t position, const Value& value);

  // The items of a list, keys of a dictionary, or characters of a string.
  List Iterate(size_t position, const Value& value);
  // value.name and value[key]; undefined if it has none.
  Value Attribute(size_t position, const Value& value, std::string_view name);
  Value Item(size_t position, const Value& value, const Value& key);
  // Applies a filter or test by its name.
  Value ApplyFilter(size_t position, std::string_view name, const Value& self, List values);
  bool ApplyTest(size_t position, std::string_view name, const Value& self, List values);

 private:
  enum class Flow { kNext, kBreak, kContinue };
  using Named = std::vector<std::pair<std::string, Value>>;

  // --- Statements, in evaluator.cc ---
  Flow Execute(const Body& body, Scope& scope, std::string& out);
  Flow ExecuteOne(const Statement& statement, Scope& scope, std::string& out);
  Flow ExecuteIf(const Statement& statement, Scope& scope, std::string& out);
  Flow ExecuteFor(const Statement& statement, Scope& scope, std::string& out);
  void ExecuteSet(const Statement& statement, Scope& scope);
  std::string Capture(const Body& body, Scope& scope);
  // What a set or filter block writes, through its filters.
  Value CaptureFiltered(const Statement& statement, Scope& scope);
  void Bind(size_t position, const std::vector<std::string>& targets, Value value, Scope& scope);
  void Assign(size_t position, std::string_view target, Value value, Scope& scope);
  Value LoopVariable(size_t position, const List& items, size_t index);

  // --- Expressions, in expressions.cc ---
  Value Evaluate(const Expression& expression, Scope& scope);
  Value EvaluateKind(const Expression& expression, Scope& scope);
  Value EvaluateName(const Expression& expression, const Scope& scope);
  Value EvaluateSlice(const Expression& expression, Scope& scope);
  Value EvaluateBinary(const Expression& expression, const Value& left, const Value& right);
  Value EvaluateInteger(const Expression& expression, int64_t left, int64_t right);
  Value EvaluateCompare(const Expression& expression, Scope& scope);
  bool Compare(size_t position, std::string_view comparison, const Value& left, const Value& right);
  bool Contains(size_t position, const Value& container, const Value& item);
  Value EvaluateCall(const Expression& expression, Scope& scope);
  Value Repeat(size_t position, const Value& sequence, int64_t count);

  // --- Calls, in calls.cc ---
  // The arguments after the first `skip` operands.
  List EvaluateArguments(const Expression& expression, size_t skip, Scope& scope, Named& named);
  Value CallBuiltin(size_t position, const BuiltinRow& row, const Value& self, List values,
                    Named named);
  Value CallMacro(size_t position, const Statement& macro, List values, Named named);

  const Program& program_;
  const std::time_t now_;
  const Limits limits_;
  Scope root_;
  std::list<Namespace> namespaces_;  // which values point to
  absl::Status status_;
  uint64_t steps_ = 0;
  uint64_t bytes_ = 0;
  int depth_ = 0;  // of calls of Evaluate, Execute
};

}  // namespace tg::jinja

#endif  // TG_FRONTEND_TOKENIZER_JINJA_EVALUATOR_H_
