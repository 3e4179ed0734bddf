#include "frontend/tokenizer/testing/json_value.h"

#include <algorithm>

namespace tg::jinja {

Value FromJson(const llvm::json::Value& json) {
  if (const auto boolean = json.getAsBoolean()) return Value::Bool(*boolean);
  if (const auto integer = json.getAsInteger()) return Value::Int(*integer);
  if (const auto number = json.getAsNumber()) return Value::Float(*number);
  if (const auto string = json.getAsString()) return Value::String(string->str());
  if (const llvm::json::Array* array = json.getAsArray()) {
    List items;
    for (const llvm::json::Value& item : *array) items.push_back(FromJson(item));
    return Value::Of(std::move(items));
  }
  const llvm::json::Object* object = json.getAsObject();
  if (object == nullptr) return Value::None();
  Dict entries;
  for (const auto& [key, item] : *object) {
    entries.emplace_back(Value::String(key.str()), FromJson(item));
  }
  std::sort(entries.begin(), entries.end(),
            [](const Entry& a, const Entry& b) { return a.first.AsString() < b.first.AsString(); });
  return Value::Of(std::move(entries));
}

}  // namespace tg::jinja
