// Fuzzes the parser with arbitrary bytes: it refuses them with a message, or the module can be
// verified and printed, reads back, and prints the same again.
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "ir/text/parser.h"
#include "ir/text/printer.h"
#include "ir/verify/verifier.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  tg::Diagnostics diags;
  const auto module = tg::ParseModule(text, "fuzz.uop", diags);
  TG_CHECK((module == nullptr) == diags.has_errors());
  (void)diags.ToString();
  if (!module) return 0;
  const std::string printed = tg::PrintModule(*module);
  tg::Diagnostics more;
  const auto again = tg::ParseModule(printed, "again.uop", more);
  TG_CHECK(again != nullptr);
  TG_CHECK(tg::PrintModule(*again) == printed);
  const bool valid = tg::VerifyModule(*module, diags);
  TG_CHECK(valid != diags.has_errors());
  (void)diags.ToString();
  // Verification does not change the module.
  TG_CHECK(tg::PrintModule(*module) == printed);
  TG_CHECK(tg::VerifyModule(*again, more) == valid);
  return 0;
}
