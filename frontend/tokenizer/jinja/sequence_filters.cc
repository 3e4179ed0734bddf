#include <algorithm>

#include "absl/strings/str_cat.h"
#include "frontend/tokenizer/jinja/evaluator.h"
#include "frontend/tokenizer/jinja/filters.h"
#include "frontend/tokenizer/jinja/strings.h"

namespace tg::jinja {
namespace {

// value.a.b for the attribute "a.b"; the value itself if there is none.
Value At(Evaluator& evaluator, size_t position, Value value, const Value& attribute) {
  if (attribute.is(Kind::kUndefined) || attribute.is(Kind::kNone)) return value;
  if (attribute.is(Kind::kInt)) return evaluator.Item(position, value, attribute);
  for (const std::string& name : Split(attribute.ToString(), ".", -1)) {
    if (evaluator.failed() || value.is(Kind::kUndefined)) return Value();
    value = evaluator.Item(position, value, Value::String(name));
  }
  return value;
}

List SequenceItems(Evaluator& evaluator, const Arguments& arguments) {
  return evaluator.Iterate(arguments.position, arguments.self);
}

// What values are ordered by: text without its case, unless it counts.
Value SortKey(Value value, const Value& case_sensitive) {
  if (!value.is(Kind::kString) || case_sensitive.IsTrue()) return value;
  return Value::String(Lower(value.AsString()));
}

// Sorts items by the keys in `keys`, which has them in the same order. It is an error if two keys
// cannot be compared.
List SortBy(Evaluator& evaluator, const Arguments& arguments, List items, const List& keys,
            bool reverse) {
  size_t log = 1;
  while (items.size() >> log > 0) ++log;
  if (!evaluator.Charge(arguments.position, items.size() * log)) return {};
  std::vector<size_t> order(items.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::stable_sort(order.begin(), order.end(), [&](size_t i, size_t j) {
    const Value& a = keys[reverse ? j : i];
    const Value& b = keys[reverse ? i : j];
    const std::optional<bool> less = a.Less(b);
    if (!less) {
      evaluator.Fail(arguments.position, absl::StrCat("no order of ", std::string(a.KindName()),
                                                      " and ", std::string(b.KindName())));
    }
    return less.value_or(false);
  });
  if (evaluator.failed()) return {};
  List sorted;
  for (const size_t i : order) sorted.push_back(items[i]);
  return sorted;
}

Value Extreme(Evaluator& evaluator, const Arguments& arguments, bool greatest) {
  const List items = SequenceItems(evaluator, arguments);
  if (items.empty()) return Value();
  List keys;
  for (const Value& item : items) {
    keys.push_back(
        SortKey(At(evaluator, arguments.position, item, arguments.values[1]), arguments.values[0]));
  }
  if (evaluator.failed()) return Value();
  const List sorted = SortBy(evaluator, arguments, items, keys, greatest);
  return sorted.empty() ? Value() : sorted[0];
}

// The items for which a test holds, or does not. `skip` arguments come before the test's name.
Value Choose(Evaluator& evaluator, const Arguments& arguments, size_t skip, bool wanted) {
  if (!arguments.named.empty() || arguments.values.size() < skip) {
    return evaluator.Fail(arguments.position, "these arguments are not expected");
  }
  const List& values = arguments.values;
  List chosen;
  for (const Value& item : SequenceItems(evaluator, arguments)) {
    const Value value = skip == 0 ? item : At(evaluator, arguments.position, item, values[0]);
    if (evaluator.failed()) break;
    const bool holds =
        values.size() == skip
            ? value.IsTrue()
            : evaluator.ApplyTest(
                  arguments.position, values[skip].ToString(), value,
                  List(values.begin() + static_cast<ptrdiff_t>(skip) + 1, values.end()));
    if (holds == wanted) chosen.push_back(item);
  }
  return evaluator.MakeList(arguments.position, std::move(chosen));
}

}  // namespace

Value Length(Evaluator& evaluator, const Arguments& arguments) {
  const Value& v = arguments.self;
  const auto integer = [](size_t size) { return Value::Int(static_cast<int64_t>(size)); };
  if (v.is(Kind::kUndefined)) return Value::Int(0);
  if (v.is(Kind::kString)) {
    evaluator.Charge(arguments.position, v.AsString().size() / 64);
    return Value::Int(CountCharacters(v.AsString()));
  }
  if (v.is(Kind::kList)) return integer(v.AsList().size());
  if (v.is(Kind::kDict)) return integer(v.AsDict().size());
  return evaluator.Fail(arguments.position,
                        absl::StrCat(std::string(v.KindName()), " has no length"));
}

Value First(Evaluator& evaluator, const Arguments& arguments) {
  const List items = SequenceItems(evaluator, arguments);
  return items.empty() ? Value() : items.front();
}

Value Last(Evaluator& evaluator, const Arguments& arguments) {
  const List items = SequenceItems(evaluator, arguments);
  return items.empty() ? Value() : items.back();
}

Value ToList(Evaluator& evaluator, const Arguments& arguments) {
  return evaluator.MakeList(arguments.position, SequenceItems(evaluator, arguments));
}

Value Reverse(Evaluator& evaluator, const Arguments& arguments) {
  List items = SequenceItems(evaluator, arguments);
  std::reverse(items.begin(), items.end());
  if (!arguments.self.is(Kind::kString))
    return evaluator.MakeList(arguments.position, std::move(items));
  std::string text;
  for (const Value& item : items) text += item.AsString();
  return evaluator.MakeString(arguments.position, std::move(text));
}

Value JoinFilter(Evaluator& evaluator, const Arguments& arguments) {
  const std::string separator = arguments.values[0].ToString();
  std::string out;
  bool first = true;
  for (const Value& item : SequenceItems(evaluator, arguments)) {
    if (!first) evaluator.Write(arguments.position, separator, out);
    first = false;
    const Value part = At(evaluator, arguments.position, item, arguments.values[1]);
    if (evaluator.failed() || !evaluator.ChargeFor(arguments.position, part)) break;
    evaluator.Write(arguments.position, part.ToString(), out);
  }
  return evaluator.MakeString(arguments.position, std::move(out));
}

Value ItemsFilter(Evaluator& evaluator, const Arguments& arguments) {
  if (arguments.self.is(Kind::kUndefined)) return Value::Of(List());
  if (!arguments.self.is(Kind::kDict)) {
    return evaluator.Fail(arguments.position, "items of what is no dictionary");
  }
  List items;
  for (const auto& [key, value] : arguments.self.AsDict()) {
    items.push_back(evaluator.MakeList(arguments.position, {key, value}));
  }
  return evaluator.MakeList(arguments.position, std::move(items));
}

Value DictSort(Evaluator& evaluator, const Arguments& arguments) {
  if (!arguments.self.is(Kind::kDict)) {
    return evaluator.Fail(arguments.position, "dictsort of what is no dictionary");
  }
  const bool by_value =
      arguments.values[1].is(Kind::kString) && arguments.values[1].AsString() == "value";
  List items, keys;
  for (const auto& [key, value] : arguments.self.AsDict()) {
    items.push_back(evaluator.MakeList(arguments.position, {key, value}));
    keys.push_back(SortKey(by_value ? value : key, arguments.values[0]));
  }
  return evaluator.MakeList(arguments.position, SortBy(evaluator, arguments, std::move(items), keys,
                                                       arguments.values[2].IsTrue()));
}

Value Sort(Evaluator& evaluator, const Arguments& arguments) {
  List items = SequenceItems(evaluator, arguments), keys;
  for (const Value& item : items) {
    keys.push_back(
        SortKey(At(evaluator, arguments.position, item, arguments.values[2]), arguments.values[1]));
  }
  if (evaluator.failed()) return Value();
  return evaluator.MakeList(arguments.position, SortBy(evaluator, arguments, std::move(items), keys,
                                                       arguments.values[0].IsTrue()));
}

Value Unique(Evaluator& evaluator, const Arguments& arguments) {
  List chosen, keys;
  for (const Value& item : SequenceItems(evaluator, arguments)) {
    const Value key =
        SortKey(At(evaluator, arguments.position, item, arguments.values[1]), arguments.values[0]);
    if (evaluator.failed() ||
        !evaluator.Charge(arguments.position, keys.size() * (1 + key.weight() / 64))) {
      return Value();
    }
    const bool seen = std::any_of(keys.begin(), keys.end(),
                                  [&key](const Value& other) { return other.Equals(key); });
    if (seen) continue;
    keys.push_back(key);
    chosen.push_back(item);
  }
  return evaluator.MakeList(arguments.position, std::move(chosen));
}

Value Sum(Evaluator& evaluator, const Arguments& arguments) {
  double total = 0;
  int64_t integer = 0;
  bool is_integer = true;
  List parts = SequenceItems(evaluator, arguments);
  if (!arguments.values[1].is(Kind::kUndefined)) parts.push_back(arguments.values[1]);
  for (const Value& item : parts) {
    const bool is_start = &item == &parts.back() && !arguments.values[1].is(Kind::kUndefined);
    const Value value =
        is_start ? item : At(evaluator, arguments.position, item, arguments.values[0]);
    if (evaluator.failed()) return Value();
    if (!value.IsNumber()) {
      return evaluator.Fail(arguments.position,
                            absl::StrCat("sum of ", std::string(value.KindName())));
    }
    total += value.AsNumber();
    is_integer &= !value.is(Kind::kFloat);
    if (is_integer && __builtin_add_overflow(integer, value.AsInteger(), &integer)) {
      return evaluator.Fail(arguments.position, "the integer is too large");
    }
  }
  return is_integer ? Value::Int(integer) : Value::Float(total);
}

Value Least(Evaluator& evaluator, const Arguments& arguments) {
  return Extreme(evaluator, arguments, false);
}

Value Greatest(Evaluator& evaluator, const Arguments& arguments) {
  return Extreme(evaluator, arguments, true);
}

// map("filter", arguments...) or map(attribute="name", default=value).
Value MapFilter(Evaluator& evaluator, const Arguments& arguments) {
  Value attribute, otherwise;
  for (const auto& [name, value] : arguments.named) {
    if (name == "attribute") {
      attribute = value;
    } else if (name == "default") {
      otherwise = value;
    } else {
      return evaluator.Fail(arguments.position, absl::StrCat("map has no parameter '", name, "'"));
    }
  }
  const List& values = arguments.values;
  if (attribute.is(Kind::kUndefined) == values.empty()) {
    return evaluator.Fail(arguments.position, "map needs a filter or an attribute");
  }
  List out;
  for (const Value& item : SequenceItems(evaluator, arguments)) {
    if (evaluator.failed()) break;
    if (values.empty()) {
      const Value value = At(evaluator, arguments.position, item, attribute);
      out.push_back(value.is(Kind::kUndefined) ? otherwise : value);
    } else {
      out.push_back(evaluator.ApplyFilter(arguments.position, values[0].ToString(), item,
                                          List(values.begin() + 1, values.end())));
    }
  }
  return evaluator.MakeList(arguments.position, std::move(out));
}

Value Select(Evaluator& evaluator, const Arguments& arguments) {
  return Choose(evaluator, arguments, 0, true);
}

Value Reject(Evaluator& evaluator, const Arguments& arguments) {
  return Choose(evaluator, arguments, 0, false);
}

Value SelectAttribute(Evaluator& evaluator, const Arguments& arguments) {
  return Choose(evaluator, arguments, 1, true);
}

Value RejectAttribute(Evaluator& evaluator, const Arguments& arguments) {
  return Choose(evaluator, arguments, 1, false);
}

}  // namespace tg::jinja
