// Filters of single values: text, numbers, JSON.
#include "frontend/tokenizer/jinja/filters.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "frontend/tokenizer/jinja/evaluator.h"
#include "frontend/tokenizer/jinja/json.h"
#include "frontend/tokenizer/jinja/strings.h"

namespace tg::jinja {
namespace {

template <std::string (*kMap)(std::string_view)>
Value MappedText(Evaluator& evaluator, const Arguments& arguments) {
  return evaluator.MakeString(arguments.position, kMap(arguments.self.ToString()));
}

Value Trim(Evaluator& evaluator, const Arguments& arguments) {
  const std::string text = arguments.self.ToString();
  std::optional<std::string_view> characters;
  if (arguments.values[0].is(Kind::kString)) characters = arguments.values[0].AsString();
  if (characters && !evaluator.Charge(arguments.position, text.size() * characters->size() / 16)) {
    return Value();
  }
  return evaluator.MakeString(arguments.position,
                              std::string(Strip(text, Side::kBoth, characters)));
}

Value String(Evaluator& evaluator, const Arguments& arguments) {
  if (arguments.self.is(Kind::kString)) return arguments.self;
  return evaluator.MakeString(arguments.position, arguments.self.ToString());
}

Value Same(Evaluator&, const Arguments& arguments) { return arguments.self; }

Value Escape(Evaluator& evaluator, const Arguments& arguments) {
  std::string out;
  for (const char c : arguments.self.ToString()) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&#34;";
        break;
      case '\'':
        out += "&#39;";
        break;
      default:  // every other character
        out += c;
    }
  }
  return evaluator.MakeString(arguments.position, std::move(out));
}

Value ReplaceFilter(Evaluator& evaluator, const Arguments& arguments) {
  const std::string text = arguments.self.ToString();
  const std::string from = arguments.values[0].ToString(), to = arguments.values[1].ToString();
  const size_t most = text.size() / std::max<size_t>(from.size(), 1) + 1;
  if (!evaluator.Charge(arguments.position, most * (to.size() / 16))) return Value();
  return evaluator.MakeString(arguments.position,
                              Replace(text, from, to, IntegerOr(arguments.values[2], -1)));
}

Value Indent(Evaluator& evaluator, const Arguments& arguments) {
  const Value& width = arguments.values[0];
  constexpr int64_t kMostSpaces = 1000;
  const std::string indent =
      width.is(Kind::kString)
          ? width.AsString()
          : std::string(
                static_cast<size_t>(std::clamp<int64_t>(IntegerOr(width, 4), 0, kMostSpaces)), ' ');
  const bool first = arguments.values[1].IsTrue(), blank = arguments.values[2].IsTrue();
  std::string out;
  const std::vector<std::string> lines = SplitLines(arguments.self.ToString() + "\n", false);
  if (!evaluator.Charge(arguments.position, lines.size() * (1 + indent.size() / 16)))
    return Value();
  for (size_t i = 0; i < lines.size(); ++i) {
    if (i > 0) out += '\n';
    if (i == 0 ? first : blank || !lines[i].empty()) out += indent;
    out += lines[i];
  }
  return evaluator.MakeString(arguments.position, std::move(out));
}

Value Default(Evaluator&, const Arguments& arguments) {
  const bool missing = arguments.self.is(Kind::kUndefined) ||
                       (arguments.values[1].IsTrue() && !arguments.self.IsTrue());
  if (!missing) return arguments.self;
  return arguments.values[0].is(Kind::kUndefined) ? Value::String("") : arguments.values[0];
}

Value Int(Evaluator&, const Arguments& arguments) {
  const Value& v = arguments.self;
  const Value otherwise =
      arguments.values[0].is(Kind::kUndefined) ? Value::Int(0) : arguments.values[0];
  if (v.is(Kind::kInt) || v.is(Kind::kBool)) return Value::Int(v.AsInteger());
  double number = 0;
  if (v.is(Kind::kString)) {
    const std::string text(Strip(v.AsString(), Side::kBoth));
    int64_t integer = 0;
    const char* begin = text.data() + (text.substr(0, 1) == "+");
    const char* end = text.data() + text.size();
    const auto parsed = std::from_chars(begin, end, integer);
    if (parsed.ec == std::errc() && parsed.ptr == end) return Value::Int(integer);
    const auto fraction = std::from_chars(begin, end, number);
    if (fraction.ec != std::errc() || fraction.ptr != end) return otherwise;
  } else if (v.is(Kind::kFloat)) {
    number = v.AsNumber();
  } else {
    return otherwise;
  }
  constexpr double kMost = 9e18;  // 2^63 is more
  return std::fabs(number) < kMost ? Value::Int(static_cast<int64_t>(number)) : otherwise;
}

Value Float(Evaluator&, const Arguments& arguments) {
  const Value& v = arguments.self;
  if (v.IsNumber()) return Value::Float(v.AsNumber());
  if (v.is(Kind::kString)) {
    const std::string text(Strip(v.AsString(), Side::kBoth));
    const char* begin = text.data() + (text.substr(0, 1) == "+");
    double number = 0;
    const auto parsed = std::from_chars(begin, text.data() + text.size(), number);
    if (parsed.ec == std::errc() && parsed.ptr == text.data() + text.size()) {
      return Value::Float(number);
    }
  }
  return arguments.values[0].is(Kind::kUndefined) ? Value::Float(0) : arguments.values[0];
}

Value Abs(Evaluator& evaluator, const Arguments& arguments) {
  const Value& v = arguments.self;
  if (v.is(Kind::kFloat)) return Value::Float(std::fabs(v.AsNumber()));
  if (!v.IsNumber() || v.AsInteger() == INT64_MIN) {
    return evaluator.Fail(arguments.position, "abs of what is no number");
  }
  return Value::Int(std::abs(v.AsInteger()));
}

Value Round(Evaluator& evaluator, const Arguments& arguments) {
  const Value& v = arguments.self;
  if (!v.IsNumber()) return evaluator.Fail(arguments.position, "round of what is no number");
  const std::string method =
      arguments.values[1].is(Kind::kString) ? arguments.values[1].AsString() : "common";
  if (method == "common" && !v.is(Kind::kFloat)) return v;
  const double scale = std::pow(10.0, static_cast<double>(IntegerOr(arguments.values[0], 0)));
  const double scaled = v.AsNumber() * scale;
  const double rounded = method == "ceil"    ? std::ceil(scaled)
                         : method == "floor" ? std::floor(scaled)
                                             : std::nearbyint(scaled);
  return Value::Float(rounded / scale);
}

Value ToJsonFilter(Evaluator& evaluator, const Arguments& arguments) {
  JsonOptions options;
  if (arguments.values[0].is(Kind::kInt)) {
    constexpr int64_t kMostSpaces = 16;
    options.indent =
        static_cast<int>(std::clamp<int64_t>(arguments.values[0].AsInt(), 0, kMostSpaces));
  }
  options.ascii = arguments.values[1].IsTrue();
  options.sort_keys = arguments.values[2].IsTrue();
  const Value& separators = arguments.values[3];
  if (separators.is(Kind::kList) && separators.AsList().size() == 2) {
    options.item_separator = separators.AsList()[0].ToString();
    options.key_separator = separators.AsList()[1].ToString();
  }
  // Each value may begin a line.
  const auto spaces = static_cast<size_t>(arguments.self.depth() * options.indent.value_or(0));
  if (!evaluator.Charge(arguments.position, arguments.self.weight() * (1 + spaces / 8) / 8)) {
    return Value();
  }
  std::optional<std::string> json = ToJson(arguments.self, options);
  if (!json) {
    return evaluator.Fail(arguments.position, absl::StrCat("there is no JSON of ",
                                                           std::string(arguments.self.KindName())));
  }
  return evaluator.MakeString(arguments.position, *std::move(json));
}

constexpr BuiltinRow kFilters[] = {
    {"abs", Abs},
    {"capitalize", MappedText<Capitalize>},
    Shallow({"count", Length}),
    Shallow({"d", Default, {"default_value", "boolean"}}),
    Shallow({"default", Default, {"default_value", "boolean"}}),
    {"dictsort", DictSort, {"case_sensitive", "by", "reverse"}},
    {"e", Escape},
    {"escape", Escape},
    Shallow({"first", First}),
    {"float", Float, {"default"}},
    {"indent", Indent, {"width", "first", "blank"}},
    {"int", Int, {"default"}},
    Shallow({"items", ItemsFilter}),
    {"join", JoinFilter, {"d", "attribute"}},
    Shallow({"last", Last}),
    Shallow({"length", Length}),
    Shallow({"list", ToList}),
    {"lower", MappedText<Lower>},
    Shallow({"map", MapFilter, {}, 0, true}),
    {"max", Greatest, {"case_sensitive", "attribute"}},
    {"min", Least, {"case_sensitive", "attribute"}},
    Shallow({"reject", Reject, {}, 0, true}),
    Shallow({"rejectattr", RejectAttribute, {}, 0, true}),
    {"replace", ReplaceFilter, {"old", "new", "count"}, 2},
    Shallow({"reverse", Reverse}),
    {"round", Round, {"precision", "method"}},
    Shallow({"safe", Same}),
    Shallow({"select", Select, {}, 0, true}),
    Shallow({"selectattr", SelectAttribute, {}, 0, true}),
    {"sort", Sort, {"reverse", "case_sensitive", "attribute"}},
    {"string", String},
    {"sum", Sum, {"attribute", "start"}},
    {"title", MappedText<Title>},
    {"tojson", ToJsonFilter, {"indent", "ensure_ascii", "sort_keys", "separators"}},
    {"trim", Trim, {"chars"}},
    {"unique", Unique, {"case_sensitive", "attribute"}},
    {"upper", MappedText<Upper>},
};

}  // namespace

std::span<const BuiltinRow> Filters() { return kFilters; }

}  // namespace tg::jinja
