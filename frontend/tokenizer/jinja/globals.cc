// Functions that every template has.
#include <ctime>

#include "absl/strings/str_cat.h"
#include "frontend/tokenizer/jinja/evaluator.h"

namespace tg::jinja {
namespace {

Value Range(Evaluator& evaluator, const Arguments& arguments) {
  const List& values = arguments.values;
  if (values.empty() || values.size() > 3 || !arguments.named.empty()) {
    return evaluator.Fail(arguments.position, "range() takes one to three integers");
  }
  for (const Value& value : values) {
    if (!value.is(Kind::kInt))
      return evaluator.Fail(arguments.position, "range() of what is no integer");
  }
  const int64_t begin = values.size() > 1 ? values[0].AsInt() : 0;
  const int64_t end = values.size() > 1 ? values[1].AsInt() : values[0].AsInt();
  const int64_t step = values.size() > 2 ? values[2].AsInt() : 1;
  if (step == 0) return evaluator.Fail(arguments.position, "the step of range() is 0");
  List items;
  int64_t next = begin;
  while (step > 0 ? next < end : next > end) {
    if (!evaluator.Charge(arguments.position, 1)) return Value();
    items.push_back(Value::Int(next));
    if (__builtin_add_overflow(next, step, &next)) break;
  }
  return evaluator.MakeList(arguments.position, std::move(items));
}

// The entries that a dictionary argument and named ones give.
Dict Entries(Evaluator& evaluator, const Arguments& arguments) {
  Dict entries;
  if (!arguments.values.empty()) {
    if (arguments.values.size() > 1 || !arguments.values[0].is(Kind::kDict)) {
      evaluator.Fail(arguments.position, "one dictionary and named arguments are expected");
      return entries;
    }
    entries = arguments.values[0].AsDict();
  }
  for (const auto& [name, value] : arguments.named) {
    Entry* same = nullptr;
    for (Entry& entry : entries) {
      if (entry.first.is(Kind::kString) && entry.first.AsString() == name) same = &entry;
    }
    if (same != nullptr) {
      same->second = value;
    } else {
      entries.emplace_back(Value::String(name), value);
    }
  }
  return entries;
}

Value MakeDict(Evaluator& evaluator, const Arguments& arguments) {
  return evaluator.MakeDict(arguments.position, Entries(evaluator, arguments));
}

Value MakeNamespace(Evaluator& evaluator, const Arguments& arguments) {
  const Dict entries = Entries(evaluator, arguments);
  const Value made = evaluator.MakeNamespace(arguments.position);
  if (evaluator.failed()) return Value();
  for (const auto& [key, value] : entries) {
    made.AsNamespace()->variables[key.ToString()] = value;
  }
  return made;
}

Value RaiseException(Evaluator& evaluator, const Arguments& arguments) {
  return evaluator.Fail(arguments.position, arguments.values[0].ToString());
}

Value FormatTime(Evaluator& evaluator, const Arguments& arguments) {
  const std::time_t now = evaluator.Now();
  std::tm local{};
  localtime_r(&now, &local);
  constexpr size_t kMostFormat = 256;
  const std::string format = arguments.values[0].ToString();
  if (format.size() > kMostFormat) {
    return evaluator.Fail(arguments.position, "the format of a time is too long");
  }
  // The buffer holds 100 characters per character of the format, more than any directive
  // prints. The space at the end of the format distinguishes an empty result from one that did not
  // fit.
  char buffer[kMostFormat * 100];
  const size_t size = std::strftime(buffer, sizeof buffer, (format + " ").c_str(), &local);
  return evaluator.MakeString(arguments.position, std::string(buffer, size > 0 ? size - 1 : 0));
}

constexpr BuiltinRow kGlobals[] = {
    Shallow({"dict", MakeDict, {}, 0, true}),
    Shallow({"namespace", MakeNamespace, {}, 0, true}),
    {"raise_exception", RaiseException, {"message"}, 1},
    {"range", Range, {}, 0, true},
    {"strftime_now", FormatTime, {"format"}, 1},
};

}  // namespace

std::span<const BuiltinRow> Globals() { return kGlobals; }

}  // namespace tg::jinja
