#include "frontend/tokenizer/jinja/value.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "frontend/tokenizer/jinja/function.h"
#include "frontend/tokenizer/utf8.h"

namespace tg::jinja {
namespace {

// Python's repr() of a string: in single quotes, unless it has some and no double quotes.
std::string Quote(std::string_view text) {
  const bool has_single = text.find('\'') != text.npos;
  const char quote = has_single && text.find('"') == text.npos ? '"' : '\'';
  std::string out(1, quote);
  for (const char c : text) {
    if (c == quote || c == '\\') {
      out += '\\';
      out += c;
    } else if (c == '\n') {
      out += "\\n";
    } else if (c == '\r') {
      out += "\\r";
    } else if (c == '\t') {
      out += "\\t";
    } else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) {
      constexpr std::string_view kDigits = "0123456789abcdef";
      out += "\\x";
      out += kDigits[static_cast<unsigned char>(c) >> 4];
      out += kDigits[c & 15];
    } else {
      out += c;
    }
  }
  out += quote;
  return out;
}

}  // namespace

Value Value::None() {
  Value value;
  value.data_ = NoneType();
  return value;
}

Value Value::Bool(bool b) {
  Value value;
  value.data_ = b;
  return value;
}

Value Value::Int(int64_t number) {
  Value value;
  value.data_ = number;
  return value;
}

Value Value::Float(double number) {
  Value value;
  value.data_ = number;
  return value;
}

Value Value::String(std::string text) {
  Value value;
  value.data_ = std::make_shared<const std::string>(std::move(text));
  return value;
}

bool Value::Add(const Value& part, Extent& whole) {
  const Extent extent = part.extent();
  whole.depth = std::max(whole.depth, extent.depth + 1);
  whole.weight += extent.weight;
  return whole.depth <= kMaxDepth && whole.weight <= kMaxWeight;
}

Value Value::Of(List items) {
  Extent extent{.depth = 1};
  Value value;
  for (const Value& item : items) {
    if (!Add(item, extent)) return value;
  }
  value.data_ = std::make_shared<const ListData>(ListData{std::move(items), extent});
  return value;
}

Value Value::Of(Dict entries) {
  Extent extent{.depth = 1};
  Value value;
  for (const auto& [key, item] : entries) {
    if (!Add(key, extent) || !Add(item, extent)) return value;
  }
  value.data_ = std::make_shared<const DictData>(DictData{std::move(entries), extent});
  return value;
}

Value Value::Of(std::shared_ptr<const Function> function) {
  Value value;
  if (function->self.depth() < kMaxDepth) value.data_ = std::move(function);
  return value;
}

Value Value::Of(Namespace* variables) {
  Value value;
  value.data_ = variables;
  return value;
}

Value::Extent Value::extent() const {
  Extent extent;
  switch (kind()) {
    case Kind::kString:
      extent.weight += AsString().size();
      break;
    case Kind::kList:
      return std::get<ListPtr>(data_)->extent;
    case Kind::kDict:
      return std::get<DictPtr>(data_)->extent;
    case Kind::kFunction:
      Add(AsFunction().self, extent);
      break;
    case Kind::kUndefined:
    case Kind::kNone:
    case Kind::kBool:
    case Kind::kInt:
    case Kind::kFloat:
    case Kind::kNamespace:
      break;
  }
  return extent;
}

bool Value::IsNumber() const { return is(Kind::kBool) || is(Kind::kInt) || is(Kind::kFloat); }

double Value::AsNumber() const {
  if (is(Kind::kFloat)) return std::get<double>(data_);
  return static_cast<double>(AsInteger());
}

int64_t Value::AsInteger() const { return is(Kind::kBool) ? AsBool() : AsInt(); }

bool Value::IsTrue() const {
  switch (kind()) {
    case Kind::kUndefined:
    case Kind::kNone:
      return false;
    case Kind::kBool:
    case Kind::kInt:
    case Kind::kFloat:
      return AsNumber() != 0;
    case Kind::kString:
      return !AsString().empty();
    case Kind::kList:
      return !AsList().empty();
    case Kind::kDict:
      return !AsDict().empty();
    case Kind::kNamespace:
    case Kind::kFunction:
      return true;
  }
  return false;
}

bool Value::Equals(const Value& other) const {
  if (IsNumber() && other.IsNumber()) {
    if (is(Kind::kFloat) || other.is(Kind::kFloat)) return AsNumber() == other.AsNumber();
    return AsInteger() == other.AsInteger();
  }
  if (kind() != other.kind()) return false;
  switch (kind()) {
    case Kind::kUndefined:
    case Kind::kNone:
      return true;
    case Kind::kString:
      return AsString() == other.AsString();
    case Kind::kList:
      return std::equal(AsList().begin(), AsList().end(), other.AsList().begin(),
                        other.AsList().end(),
                        [](const Value& a, const Value& b) { return a.Equals(b); });
    case Kind::kDict: {
      if (AsDict().size() != other.AsDict().size()) return false;
      return std::all_of(AsDict().begin(), AsDict().end(), [&other](const Entry& entry) {
        const Value* found = other.Find(entry.first);
        return found != nullptr && found->Equals(entry.second);
      });
    }
    case Kind::kNamespace:
      return AsNamespace() == other.AsNamespace();
    case Kind::kFunction:
      return std::get<FunctionPtr>(data_) == std::get<FunctionPtr>(other.data_);
    case Kind::kBool:
    case Kind::kInt:
    case Kind::kFloat:
      break;  // numbers, above
  }
  return false;
}

std::optional<bool> Value::Less(const Value& other) const {
  if (IsNumber() && other.IsNumber()) {
    if (is(Kind::kFloat) || other.is(Kind::kFloat)) return AsNumber() < other.AsNumber();
    return AsInteger() < other.AsInteger();
  }
  if (is(Kind::kString) && other.is(Kind::kString)) return AsString() < other.AsString();
  if (!is(Kind::kList) || !other.is(Kind::kList)) return std::nullopt;
  const List& a = AsList();
  const List& b = other.AsList();
  for (size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    if (!a[i].Equals(b[i])) return a[i].Less(b[i]);
  }
  return a.size() < b.size();
}

std::string Value::ToString() const { return is(Kind::kString) ? AsString() : Repr(); }

std::string Value::Repr() const {
  switch (kind()) {
    case Kind::kUndefined:
      return "";
    case Kind::kNone:
      return "None";
    case Kind::kBool:
      return AsBool() ? "True" : "False";
    case Kind::kInt:
      return std::to_string(AsInt());
    case Kind::kFloat:
      return FloatRepr(AsNumber());
    case Kind::kString:
      return Quote(AsString());
    case Kind::kList: {
      std::string out = "[";
      for (const Value& item : AsList()) {
        if (out.size() > 1) out += ", ";
        out += item.Repr();
      }
      return out + "]";
    }
    case Kind::kDict: {
      std::string out = "{";
      for (const auto& [key, item] : AsDict()) {
        if (out.size() > 1) out += ", ";
        out += key.Repr() + ": " + item.Repr();
      }
      return out + "}";
    }
    case Kind::kNamespace:
      return "<Namespace>";
    case Kind::kFunction:
      return "<function>";
  }
  return "";
}

std::string_view Value::KindName() const {
  constexpr std::string_view kNames[] = {"undefined",   "none",      "a boolean", "an integer",
                                         "a float",     "a string",  "a list",    "a dictionary",
                                         "a namespace", "a function"};
  return kNames[data_.index()];
}

const Value* Value::Find(const Value& key) const {
  const Dict& entries = AsDict();
  const auto entry = std::find_if(entries.begin(), entries.end(),
                                  [&key](const Entry& e) { return e.first.Equals(key); });
  return entry == entries.end() ? nullptr : &entry->second;
}

const Value* Value::Find(std::string_view key) const {
  const Dict& entries = AsDict();
  const auto entry = std::find_if(entries.begin(), entries.end(), [key](const Entry& e) {
    return e.first.is(Kind::kString) && e.first.AsString() == key;
  });
  return entry == entries.end() ? nullptr : &entry->second;
}

std::string FloatRepr(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  char buffer[64];
  const double magnitude = std::fabs(value);
  // Python's borders between the two notations.
  const bool scientific = magnitude != 0 && (magnitude < 1e-4 || magnitude >= 1e16);
  const auto format = scientific ? std::chars_format::scientific : std::chars_format::fixed;
  const auto end = std::to_chars(buffer, buffer + sizeof buffer, value, format).ptr;
  std::string text(buffer, end);
  if (!scientific && text.find('.') == text.npos) text += ".0";
  return text;
}

std::vector<std::string_view> Characters(std::string_view text) {
  std::vector<std::string_view> characters;
  while (!text.empty()) {
    const size_t size = tokenizer::FirstCharacter(text).size;
    characters.push_back(text.substr(0, size));
    text.remove_prefix(size);
  }
  return characters;
}

int64_t CountCharacters(std::string_view text) {
  int64_t count = 0;
  for (; !text.empty(); ++count) text.remove_prefix(tokenizer::FirstCharacter(text).size);
  return count;
}

std::string_view Substring(std::string_view text, int64_t begin, int64_t end) {
  for (int64_t i = 0; i < begin; ++i) text.remove_prefix(tokenizer::FirstCharacter(text).size);
  size_t size = 0;
  for (int64_t i = begin; i < end; ++i) size += tokenizer::FirstCharacter(text.substr(size)).size;
  return text.substr(0, size);
}

}  // namespace tg::jinja
