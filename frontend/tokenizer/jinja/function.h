// Filters, tests, methods and global functions: rows of tables that bind arguments to parameters.
#ifndef TG_FRONTEND_TOKENIZER_JINJA_FUNCTION_H_
#define TG_FRONTEND_TOKENIZER_JINJA_FUNCTION_H_

#include <array>
#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "frontend/tokenizer/jinja/syntax.h"
#include "frontend/tokenizer/jinja/value.h"

namespace tg::jinja {

class Evaluator;

struct Arguments {
  size_t position = 0;  // of the call, for errors
  Value self;           // what a filter, test or method applies to
  // One for each parameter, undefined where none was given; of variadic functions what was given.
  List values;
  // Of variadic functions.
  std::vector<std::pair<std::string, Value>> named;
};

// After Evaluator::Fail the result does not matter.
using Builtin = Value (*)(Evaluator&, const Arguments&);

struct BuiltinRow {
  std::string_view name;
  Builtin run;
  std::array<std::string_view, 4> parameters = {};
  size_t required = 0;
  bool variadic = false;  // takes any arguments
  bool shallow = false;   // does not look into values
};

constexpr BuiltinRow Shallow(BuiltinRow row) {
  row.shallow = true;
  return row;
}

// A value that can be called: a builtin, with `self` if it is a method, or a macro.
struct Function {
  const BuiltinRow* builtin = nullptr;
  const Statement* macro = nullptr;
  Value self;
};

// What namespace() makes. The evaluator owns it.
struct Namespace {
  std::map<std::string, Value, std::less<>> variables;
};

std::span<const BuiltinRow> Filters();
std::span<const BuiltinRow> Tests();
std::span<const BuiltinRow> Globals();
// Methods of values of a kind.
std::span<const BuiltinRow> Methods(Kind kind);

// Null if there is none of that name.
const BuiltinRow* FindRow(std::span<const BuiltinRow> rows, std::string_view name);

}  // namespace tg::jinja

#endif  // TG_FRONTEND_TOKENIZER_JINJA_FUNCTION_H_
