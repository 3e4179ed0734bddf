// Modules given as text, in tests.
#ifndef TG_IR_TEXT_TESTING_H_
#define TG_IR_TEXT_TESTING_H_

#include <gtest/gtest.h>

#include <memory>
#include <string_view>

#include "ir/text/parser.h"

namespace tg {

// Returns the module, which is not verified. After a syntax error the test fails, and the result is
// null.
inline std::unique_ptr<Module> ParseOrFail(std::string_view text,
                                           std::string_view file_name = "test.uop") {
  Diagnostics diagnostics;
  std::unique_ptr<Module> module = ParseModule(text, file_name, diagnostics);
  if (module == nullptr) ADD_FAILURE() << diagnostics.ToString();
  return module;
}

}  // namespace tg

#endif  // TG_IR_TEXT_TESTING_H_
