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

// UOp(Ops.op, dtypes.type, arg=arg, src=(srcs,))
inline std::string Op(const std::string& op, const std::string& type, const std::string& arg,
                      const std::string& srcs) {
  return "UOp(Ops." + op + ", dtypes." + type + ", arg=" + arg + ", src=(" + srcs + ",))";
}

}  // namespace tg::tinygrad

#endif  // TG_FRONTEND_TINYGRAD_IMPORT_TESTING_H_
