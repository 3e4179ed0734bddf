// What "is" asks about values.
#include <iterator>

#include "absl/strings/str_cat.h"
#include "frontend/tokenizer/jinja/evaluator.h"
#include "frontend/tokenizer/jinja/strings.h"

namespace tg::jinja {
namespace {

template <Kind kKind>
Value IsKind(Evaluator&, const Arguments& arguments) {
  return Value::Bool(arguments.self.is(kKind));
}

Value IsDefined(Evaluator&, const Arguments& arguments) {
  return Value::Bool(!arguments.self.is(Kind::kUndefined));
}

Value IsNumber(Evaluator&, const Arguments& arguments) {
  return Value::Bool(arguments.self.IsNumber());
}

Value IsSequence(Evaluator&, const Arguments& arguments) {
  const Value& v = arguments.self;
  return Value::Bool(v.is(Kind::kString) || v.is(Kind::kList) || v.is(Kind::kDict));
}

Value IsIterable(Evaluator& evaluator, const Arguments& arguments) {
  return Value::Bool(arguments.self.is(Kind::kUndefined) ||
                     IsSequence(evaluator, arguments).IsTrue());
}

template <bool kWanted>
Value IsBool(Evaluator&, const Arguments& arguments) {
  const Value& v = arguments.self;
  return Value::Bool(v.is(Kind::kBool) && v.AsBool() == kWanted);
}

template <bool kWanted>
Value IsEqual(Evaluator&, const Arguments& arguments) {
  return Value::Bool(arguments.self.Equals(arguments.values[0]) == kWanted);
}

// kSwapped: right < left; kNegated: the opposite.
template <bool kSwapped, bool kNegated>
Value IsOrdered(Evaluator& evaluator, const Arguments& arguments) {
  const Value& a = kSwapped ? arguments.values[0] : arguments.self;
  const Value& b = kSwapped ? arguments.self : arguments.values[0];
  const std::optional<bool> less = a.Less(b);
  if (!less) {
    return evaluator.Fail(arguments.position,
                          absl::StrCat("no order of ", std::string(a.KindName()), " and ",
                                       std::string(b.KindName())));
  }
  return Value::Bool(*less != kNegated);
}

Value IsIn(Evaluator& evaluator, const Arguments& arguments) {
  const Value& container = arguments.values[0];
  const Value& item = arguments.self;
  if (container.is(Kind::kString) && item.is(Kind::kString)) {
    return Value::Bool(container.AsString().find(item.AsString()) != std::string::npos);
  }
  for (const Value& i : evaluator.Iterate(arguments.position, container)) {
    if (i.Equals(item)) return Value::Bool(true);
  }
  return Value::Bool(false);
}

// The remainder of an integer by `divisor`; an error if it is none.
Value Remainder(Evaluator& evaluator, const Arguments& arguments, int64_t divisor) {
  const Value& v = arguments.self;
  if (!v.is(Kind::kInt) && !v.is(Kind::kBool)) {
    return evaluator.Fail(arguments.position, "a remainder of what is no integer");
  }
  if (divisor == 0) return evaluator.Fail(arguments.position, "division by zero");
  return Value::Int(divisor == -1 ? 0 : v.AsInteger() % divisor);
}

template <bool kOdd>
Value IsOdd(Evaluator& evaluator, const Arguments& arguments) {
  return Value::Bool(Remainder(evaluator, arguments, 2).IsTrue() == kOdd);
}

Value IsDivisible(Evaluator& evaluator, const Arguments& arguments) {
  const Value& divisor = arguments.values[0];
  return Value::Bool(
      !Remainder(evaluator, arguments, divisor.is(Kind::kInt) ? divisor.AsInt() : 0).IsTrue());
}

Value IsLower(Evaluator&, const Arguments& arguments) {
  const std::string text = arguments.self.ToString();
  return Value::Bool(Lower(text) == text && Upper(text) != text);
}

Value IsUpper(Evaluator&, const Arguments& arguments) {
  const std::string text = arguments.self.ToString();
  return Value::Bool(Upper(text) == text && Lower(text) != text);
}

Value IsFilter(Evaluator&, const Arguments& arguments) {
  return Value::Bool(FindRow(Filters(), arguments.self.ToString()) != nullptr);
}

constexpr BuiltinRow kTests[] = {
    {"!=", IsEqual<false>, {"other"}, 1},
    {"<", IsOrdered<false, false>, {"other"}, 1},
    {"<=", IsOrdered<true, true>, {"other"}, 1},
    {"==", IsEqual<true>, {"other"}, 1},
    {">", IsOrdered<true, false>, {"other"}, 1},
    {">=", IsOrdered<false, true>, {"other"}, 1},
    Shallow({"boolean", IsKind<Kind::kBool>}),
    Shallow({"callable", IsKind<Kind::kFunction>}),
    Shallow({"defined", IsDefined}),
    Shallow({"divisibleby", IsDivisible, {"num"}, 1}),
    {"eq", IsEqual<true>, {"other"}, 1},
    {"equalto", IsEqual<true>, {"other"}, 1},
    Shallow({"even", IsOdd<false>}),
    Shallow({"false", IsBool<false>}),
    {"filter", IsFilter},
    Shallow({"float", IsKind<Kind::kFloat>}),
    {"ge", IsOrdered<false, true>, {"other"}, 1},
    {"greaterthan", IsOrdered<true, false>, {"other"}, 1},
    {"gt", IsOrdered<true, false>, {"other"}, 1},
    {"in", IsIn, {"seq"}, 1},
    Shallow({"integer", IsKind<Kind::kInt>}),
    Shallow({"iterable", IsIterable}),
    {"le", IsOrdered<true, true>, {"other"}, 1},
    {"lessthan", IsOrdered<false, false>, {"other"}, 1},
    {"lower", IsLower},
    {"lt", IsOrdered<false, false>, {"other"}, 1},
    Shallow({"mapping", IsKind<Kind::kDict>}),
    {"ne", IsEqual<false>, {"other"}, 1},
    Shallow({"none", IsKind<Kind::kNone>}),
    Shallow({"number", IsNumber}),
    Shallow({"odd", IsOdd<true>}),
    {"sameas", IsEqual<true>, {"other"}, 1},
    Shallow({"sequence", IsSequence}),
    Shallow({"string", IsKind<Kind::kString>}),
    Shallow({"true", IsBool<true>}),
    Shallow({"undefined", IsKind<Kind::kUndefined>}),
    {"upper", IsUpper},
};

}  // namespace

std::span<const BuiltinRow> Tests() { return kTests; }

}  // namespace tg::jinja
