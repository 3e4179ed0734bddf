// JSON text of values, as Python's json.dumps writes it.
#ifndef TG_FRONTEND_TOKENIZER_JINJA_JSON_H_
#define TG_FRONTEND_TOKENIZER_JINJA_JSON_H_

#include <optional>
#include <string>

#include "frontend/tokenizer/jinja/value.h"

namespace tg::jinja {

struct JsonOptions {
  bool ascii = false;  // escapes other characters
  bool sort_keys = false;
  std::optional<int> indent;   // spaces for each level; none: one line
  std::string item_separator;  // as in Python; chosen by `indent` if both are empty
  std::string key_separator;
};

// nullopt if the value contains something that JSON cannot represent.
std::optional<std::string> ToJson(const Value& value, const JsonOptions& options);

}  // namespace tg::jinja

#endif  // TG_FRONTEND_TOKENIZER_JINJA_JSON_H_
