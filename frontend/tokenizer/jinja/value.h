// The values of expressions in a template: Python's values, as far as chat templates need them.
// Lists and dictionaries never change, so that values can share them and no value contains itself.
#ifndef TG_FRONTEND_TOKENIZER_JINJA_VALUE_H_
#define TG_FRONTEND_TOKENIZER_JINJA_VALUE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace tg::jinja {

class Value;
struct Function;   // something that can be called, in function.h
struct Namespace;  // variables that inner scopes may set, in function.h

using List = std::vector<Value>;
using Entry = std::pair<Value, Value>;
using Dict = std::vector<Entry>;  // in the order of insertion; keys are distinct

enum class Kind {
  kUndefined,
  kNone,
  kBool,
  kInt,
  kFloat,
  kString,
  kList,
  kDict,
  kNamespace,
  kFunction,
};

class Value {
 public:
  Value() = default;  // undefined
  static Value None();
  static Value Bool(bool value);
  static Value Int(int64_t value);
  static Value Float(double value);
  static Value String(std::string value);
  // Undefined if it would be deeper than kMaxDepth or heavier than kMaxWeight.
  static Value Of(List items);
  static Value Of(Dict entries);
  static Value Of(std::shared_ptr<const Function> function);
  static Value Of(Namespace* variables);  // which outlives the value

  Kind kind() const { return static_cast<Kind>(data_.index()); }
  bool is(Kind k) const { return kind() == k; }
  bool IsNumber() const;  // bool, int or float

  // Of the kind that the name says.
  bool AsBool() const { return std::get<bool>(data_); }
  int64_t AsInt() const { return std::get<int64_t>(data_); }
  const std::string& AsString() const { return *std::get<Text>(data_); }
  const List& AsList() const { return std::get<ListPtr>(data_)->items; }
  const Dict& AsDict() const { return std::get<DictPtr>(data_)->entries; }
  Namespace* AsNamespace() const { return std::get<Namespace*>(data_); }
  const Function& AsFunction() const { return *std::get<FunctionPtr>(data_); }
  // Of a number.
  double AsNumber() const;
  // Of a bool or an int.
  int64_t AsInteger() const;

  bool IsTrue() const;
  // Python's ==.
  bool Equals(const Value& other) const;
  // Python's <, for two numbers, strings or lists; nothing for others.
  std::optional<bool> Less(const Value& other) const;

  // Python's str() and repr(). Undefined is "".
  std::string ToString() const;
  std::string Repr() const;
  // "a string", for messages.
  std::string_view KindName() const;

  // The entry of a dictionary; null if it has none.
  const Value* Find(const Value& key) const;
  const Value* Find(std::string_view key) const;

  // 0; of a list, a dictionary or a method one more than that of the deepest value in it.
  int depth() const { return extent().depth; }
  // How much there is to go through: bytes and values, as often as they occur.
  uint64_t weight() const { return extent().weight; }
  static constexpr int kMaxDepth = 64;
  static constexpr uint64_t kMaxWeight = uint64_t{1} << 26;

 private:
  struct Extent {
    int depth = 0;
    uint64_t weight = 1;
  };
  Extent extent() const;
  // Of a value that holds others; false if that is too deep or too much.
  static bool Add(const Value& part, Extent& whole);

  struct NoneType {};
  struct ListData {
    List items;
    Extent extent;
  };
  struct DictData {
    Dict entries;
    Extent extent;
  };
  using Text = std::shared_ptr<const std::string>;
  using ListPtr = std::shared_ptr<const ListData>;
  using DictPtr = std::shared_ptr<const DictData>;
  using FunctionPtr = std::shared_ptr<const Function>;

  // In the order of Kind.
  std::variant<std::monostate, NoneType, bool, int64_t, double, Text, ListPtr, DictPtr, Namespace*,
               FunctionPtr>
      data_;
};

// Python's repr() of a finite or infinite number.
std::string FloatRepr(double value);

// Characters of a string: Python counts code points.
std::vector<std::string_view> Characters(std::string_view text);
int64_t CountCharacters(std::string_view text);
// Characters `begin` to `end`, both at most the number of characters.
std::string_view Substring(std::string_view text, int64_t begin, int64_t end);

// The integer, or `otherwise` if the value is none.
inline int64_t IntegerOr(const Value& value, int64_t otherwise) {
  return value.is(Kind::kInt) ? value.AsInt() : otherwise;
}

}  // namespace tg::jinja

#endif  // TG_FRONTEND_TOKENIZER_JINJA_VALUE_H_
