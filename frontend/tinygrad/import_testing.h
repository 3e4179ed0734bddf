// Utilities that the tests of the importer share.
#ifndef TG_FRONTEND_TINYGRAD_IMPORT_TESTING_H_
#define TG_FRONTEND_TINYGRAD_IMPORT_TESTING_H_

#include <string>

#include "frontend/tinygrad/import_tinygrad.h"
#include "gtest/gtest.h"
#include "ir/text/printer.h"
#include "ir/verify/verifier.h"

namespace tg::tinygrad {

// The printed module, or the errors.
inline std::string Import(const std::string& text) {
  Diagnostics diags;
  const auto module = ImportTinygrad(text, "t.repr", diags);
  EXPECT_EQ(module == nullptr, diags.has_errors());
  if (!module || !VerifyModule(*module, diags)) return diags.ToString();
  return PrintModule(*module);
}

// The lines of @main between its braces, without the sink; or the errors.
inline std::string Main(const std::string& text) {
  const std::string module = Import(text);
  const size_t begin = module.find("graph @main {\n"), end = module.find("  sink");
  if (begin == std::string::npos || end == std::string::npos) return module;
  return module.substr(begin + 14, end - begin - 14);
}

// UOp(Ops.op, dtypes.type, arg=arg, src=(srcs,))
inline std::string Op(const std::string& op, const std::string& type, const std::string& arg,
                      const std::string& srcs) {
  return "UOp(Ops." + op + ", dtypes." + type + ", arg=" + arg + ", src=(" + srcs + ",))";
}

}  // namespace tg::tinygrad

#endif  // TG_FRONTEND_TINYGRAD_IMPORT_TESTING_H_
