// Any bytes: the importer refuses them in one line, or gives a module that is valid.
#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>

#include "base/check.h"
#include "frontend/gguf/gguf.h"
#include "frontend/gguf/language_model.h"
#include "ir/verify/verifier.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto model = tg::gguf::ReadModel(
      "m.gguf", [&](const std::string&) -> absl::StatusOr<std::string_view> { return bytes; });
  if (!model.ok()) return 0;
  const auto built = tg::gguf::BuildLanguageModel(*model, {});
  if (!built.ok()) {
    TG_CHECK(!built.status().message().empty());
    return 0;
  }
  TG_CHECK(built->weight_bytes >= 0 && built->context > 0 && built->max_blocks > 0);
  tg::Diagnostics diagnostics;
  tg::VerifyModule(*built->module, diagnostics);
  if (diagnostics.has_errors()) std::fputs(diagnostics.ToString().c_str(), stderr);
  TG_CHECK(!diagnostics.has_errors());
  return 0;
}
