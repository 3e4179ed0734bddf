// Methods of strings, dictionaries and lists. Methods that change their object are left out, as in
// the sandbox in which chat templates usually run.
#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "frontend/tokenizer/jinja/evaluator.h"
#include "frontend/tokenizer/jinja/strings.h"

namespace tg::jinja {
namespace {

const std::string& Self(const Arguments& arguments) { return arguments.self.AsString(); }

// Whether argument `i` is a string; else an error.
bool NeedString(Evaluator& evaluator, const Arguments& arguments, size_t i) {
  if (arguments.values[i].is(Kind::kString)) return true;
  evaluator.Fail(arguments.position, absl::StrCat("a string is expected, not ",
                                                  std::string(arguments.values[i].KindName())));
  return false;
}

std::optional<std::string_view> OptionalString(const Value& value) {
  if (!value.is(Kind::kString)) return std::nullopt;
  return value.AsString();
}

Value MakeStrings(Evaluator& evaluator, const Arguments& arguments,
                  const std::vector<std::string>& strings) {
  List list;
  for (const std::string& string : strings) list.push_back(Value::String(string));
  return evaluator.MakeList(arguments.position, std::move(list));
}

// Counts the parts that a text is cut into, before they take memory.
bool ChargeParts(Evaluator& evaluator, const Arguments& arguments,
                 std::optional<std::string_view> separator) {
  constexpr size_t kStepsOfPart = 4;
  const std::string_view text = Self(arguments);
  size_t parts = 1;
  if (separator) {
    for (size_t at = 0; (at = text.find(*separator, at)) != text.npos; at += separator->size()) {
      ++parts;
    }
  } else {  // at most: at white space, some of which has several bytes
    parts += static_cast<size_t>(std::count_if(text.begin(), text.end(), [](char c) {
      return static_cast<unsigned char>(c) <= ' ' || static_cast<unsigned char>(c) >= 0xC0;
    }));
  }
  return evaluator.Charge(arguments.position, parts * kStepsOfPart);
}

template <Side kSide>
Value StripMethod(Evaluator& evaluator, const Arguments& arguments) {
  // Each character is compared with each of the set.
  const auto set = OptionalString(arguments.values[0]);
  if (set && !evaluator.Charge(arguments.position, Self(arguments).size() * set->size() / 16)) {
    return Value();
  }
  return evaluator.MakeString(arguments.position, std::string(Strip(Self(arguments), kSide, set)));
}

template <std::string (*kMap)(std::string_view)>
Value Mapped(Evaluator& evaluator, const Arguments& arguments) {
  return evaluator.MakeString(arguments.position, kMap(Self(arguments)));
}

template <std::vector<std::string> (*kSplit)(std::string_view, std::optional<std::string_view>,
                                             int64_t)>
Value SplitMethod(Evaluator& evaluator, const Arguments& arguments) {
  const auto separator = OptionalString(arguments.values[0]);
  if (separator && separator->empty()) {
    return evaluator.Fail(arguments.position, "an empty separator");
  }
  if (!ChargeParts(evaluator, arguments, separator)) return Value();
  return MakeStrings(evaluator, arguments,
                     kSplit(Self(arguments), separator, IntegerOr(arguments.values[1], -1)));
}

Value SplitLinesMethod(Evaluator& evaluator, const Arguments& arguments) {
  if (!ChargeParts(evaluator, arguments, std::nullopt)) return Value();
  return MakeStrings(evaluator, arguments,
                     SplitLines(Self(arguments), arguments.values[0].IsTrue()));
}

// startswith and endswith: a string, or a list of some.
template <bool kStart>
Value HasAffix(Evaluator& evaluator, const Arguments& arguments) {
  const Value& affix = arguments.values[0];
  const List affixes = affix.is(Kind::kList) ? affix.AsList() : List{affix};
  const std::string_view text = Self(arguments);
  for (const Value& value : affixes) {
    if (!value.is(Kind::kString)) {
      return evaluator.Fail(arguments.position, absl::StrCat("a string is expected, not ",
                                                             std::string(value.KindName())));
    }
    const std::string_view part = value.AsString();
    if (text.size() < part.size()) continue;
    const size_t at = kStart ? 0 : text.size() - part.size();
    if (text.substr(at, part.size()) == part) return Value::Bool(true);
  }
  return Value::Bool(false);
}

template <bool kStart>
Value RemoveAffix(Evaluator& evaluator, const Arguments& arguments) {
  if (!NeedString(evaluator, arguments, 0)) return Value();
  std::string_view text = Self(arguments);
  const size_t size = arguments.values[0].AsString().size();
  if (HasAffix<kStart>(evaluator, arguments).IsTrue()) {
    kStart ? text.remove_prefix(size) : text.remove_suffix(size);
  }
  return evaluator.MakeString(arguments.position, std::string(text));
}

Value ReplaceMethod(Evaluator& evaluator, const Arguments& arguments) {
  if (!NeedString(evaluator, arguments, 0) || !NeedString(evaluator, arguments, 1)) return Value();
  const std::string& from = arguments.values[0].AsString();
  const std::string& to = arguments.values[1].AsString();
  // The result has at most this many copies of `to`.
  const size_t most = Self(arguments).size() / std::max<size_t>(from.size(), 1) + 1;
  if (to.size() > 1 && !evaluator.Charge(arguments.position, most * (to.size() / 16)))
    return Value();
  return evaluator.MakeString(
      arguments.position, Replace(Self(arguments), from, to, IntegerOr(arguments.values[2], -1)));
}

Value Count(Evaluator& evaluator, const Arguments& arguments) {
  if (!NeedString(evaluator, arguments, 0)) return Value();
  const std::string& part = arguments.values[0].AsString();
  if (part.empty()) return Value::Int(CountCharacters(Self(arguments)) + 1);
  int64_t count = 0;
  for (size_t at = 0; (at = Self(arguments).find(part, at)) != std::string::npos;
       at += part.size()) {
    ++count;
  }
  return Value::Int(count);
}

template <bool kLast>
Value FindMethod(Evaluator& evaluator, const Arguments& arguments) {
  if (!NeedString(evaluator, arguments, 0)) return Value();
  const std::string& text = Self(arguments);
  const std::string& part = arguments.values[0].AsString();
  const size_t found = kLast ? text.rfind(part) : text.find(part);
  if (found == std::string::npos) return Value::Int(-1);
  return Value::Int(CountCharacters(std::string_view(text).substr(0, found)));
}

Value JoinMethod(Evaluator& evaluator, const Arguments& arguments) {
  const List items = evaluator.Iterate(arguments.position, arguments.values[0]);
  std::string out;
  for (const Value& item : items) {
    if (!item.is(Kind::kString)) {
      return evaluator.Fail(arguments.position,
                            absl::StrCat("join() of ", std::string(item.KindName())));
    }
    if (&item != &items[0]) evaluator.Write(arguments.position, Self(arguments), out);
    evaluator.Write(arguments.position, item.AsString(), out);
  }
  return evaluator.MakeString(arguments.position, std::move(out));
}

template <bool (*kIs)(unsigned char)>
Value AllAscii(Evaluator&, const Arguments& arguments) {
  const std::string& text = Self(arguments);
  return Value::Bool(!text.empty() && std::all_of(text.begin(), text.end(), kIs));
}

Value Items(Evaluator& evaluator, const Arguments& arguments) {
  List items;
  for (const auto& [key, value] : arguments.self.AsDict()) {
    items.push_back(evaluator.MakeList(arguments.position, {key, value}));
  }
  return evaluator.MakeList(arguments.position, std::move(items));
}

Value Keys(Evaluator& evaluator, const Arguments& arguments) {
  List keys;
  for (const auto& [key, value] : arguments.self.AsDict()) keys.push_back(key);
  return evaluator.MakeList(arguments.position, std::move(keys));
}

Value Values(Evaluator& evaluator, const Arguments& arguments) {
  List values;
  for (const auto& [key, value] : arguments.self.AsDict()) values.push_back(value);
  return evaluator.MakeList(arguments.position, std::move(values));
}

Value Get(Evaluator&, const Arguments& arguments) {
  if (const Value* found = arguments.self.Find(arguments.values[0])) return *found;
  return arguments.values[1].is(Kind::kUndefined) ? Value::None() : arguments.values[1];
}

Value Copy(Evaluator&, const Arguments& arguments) { return arguments.self; }

Value CountItems(Evaluator&, const Arguments& arguments) {
  const List& items = arguments.self.AsList();
  return Value::Int(std::count_if(items.begin(), items.end(), [&](const Value& item) {
    return item.Equals(arguments.values[0]);
  }));
}

Value Index(Evaluator& evaluator, const Arguments& arguments) {
  const List& items = arguments.self.AsList();
  for (size_t i = 0; i < items.size(); ++i) {
    if (items[i].Equals(arguments.values[0])) return Value::Int(static_cast<int64_t>(i));
  }
  return evaluator.Fail(arguments.position, "index() of what is not in the list");
}

constexpr BuiltinRow kStringMethods[] = {
    {"capitalize", Mapped<Capitalize>},
    {"count", Count, {"sub"}, 1},
    {"endswith", HasAffix<false>, {"suffix"}, 1},
    {"find", FindMethod<false>, {"sub"}, 1},
    {"isalnum", AllAscii<absl::ascii_isalnum>},
    {"isalpha", AllAscii<absl::ascii_isalpha>},
    {"isdigit", AllAscii<absl::ascii_isdigit>},
    {"isspace", AllAscii<absl::ascii_isspace>},
    {"join", JoinMethod, {"iterable"}, 1},
    {"lower", Mapped<Lower>},
    {"lstrip", StripMethod<Side::kLeft>, {"chars"}},
    {"removeprefix", RemoveAffix<true>, {"prefix"}, 1},
    {"removesuffix", RemoveAffix<false>, {"suffix"}, 1},
    {"replace", ReplaceMethod, {"old", "new", "count"}, 2},
    {"rfind", FindMethod<true>, {"sub"}, 1},
    {"rsplit", SplitMethod<SplitFromRight>, {"sep", "maxsplit"}},
    {"rstrip", StripMethod<Side::kRight>, {"chars"}},
    {"split", SplitMethod<Split>, {"sep", "maxsplit"}},
    {"splitlines", SplitLinesMethod, {"keepends"}},
    {"startswith", HasAffix<true>, {"prefix"}, 1},
    {"strip", StripMethod<Side::kBoth>, {"chars"}},
    {"title", Mapped<Title>},
    {"upper", Mapped<Upper>},
};

constexpr BuiltinRow kDictMethods[] = {
    Shallow({"copy", Copy}),     Shallow({"get", Get, {"key", "default"}, 1}),
    Shallow({"items", Items}),   Shallow({"keys", Keys}),
    Shallow({"values", Values}),
};

constexpr BuiltinRow kListMethods[] = {
    {"copy", Copy},
    {"count", CountItems, {"value"}, 1},
    {"index", Index, {"value"}, 1},
};

}  // namespace

std::span<const BuiltinRow> Methods(Kind kind) {
  switch (kind) {
    case Kind::kString:
      return kStringMethods;
    case Kind::kDict:
      return kDictMethods;
    case Kind::kList:
      return kListMethods;
    case Kind::kUndefined:
    case Kind::kNone:
    case Kind::kBool:
    case Kind::kInt:
    case Kind::kFloat:
    case Kind::kNamespace:
    case Kind::kFunction:
      break;
  }
  return {};
}

}  // namespace tg::jinja
