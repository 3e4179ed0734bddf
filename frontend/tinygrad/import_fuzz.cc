// Any bytes: the importer refuses them with a message that has a place, or gives a module that can
// be verified, printed, and read again.
#include <cstdint>
#include <string>
#include <string_view>

#include "frontend/tinygrad/import.h"
#include "ir/check.h"
#include "ir/text/parser.h"
#include "ir/text/printer.h"
#include "ir/verify/verifier.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  tg::Diagnostics diags;
  const auto module = tg::ImportTinygrad(text, "fuzz.repr", diags);
  TG_CHECK((module == nullptr) == diags.has_errors());
  (void)diags.ToString();
  if (!module) {
    TG_CHECK(diags.errors()[0].loc.line > 0);
    return 0;
  }
  if (!tg::VerifyModule(*module, diags)) {
    (void)diags.ToString();
    return 0;
  }
  const std::string printed = tg::PrintModule(*module);
  tg::Diagnostics more;
  const auto again = tg::ParseModule(printed, "again.uop", more);
  TG_CHECK(again != nullptr);
  TG_CHECK(tg::VerifyModule(*again, more));
  TG_CHECK(tg::PrintModule(*again) == printed);
  return 0;
}
