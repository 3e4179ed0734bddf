// JSON as values of templates, for tests.
#ifndef TG_FRONTEND_TOKENIZER_TESTING_JSON_VALUE_H_
#define TG_FRONTEND_TOKENIZER_TESTING_JSON_VALUE_H_

#include "frontend/tokenizer/jinja/value.h"
#include "llvm/Support/JSON.h"

namespace tg::jinja {

// Keys of objects in alphabetical order.
Value FromJson(const llvm::json::Value& json);

}  // namespace tg::jinja

#endif  // TG_FRONTEND_TOKENIZER_TESTING_JSON_VALUE_H_
