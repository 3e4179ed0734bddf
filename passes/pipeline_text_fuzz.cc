// Any text is a pipeline or an error, never a crash; what is read prints, and reads back the same.
#include <cstddef>
#include <cstdint>

#include "base/check.h"
#include "passes/pass_registry.h"
#include "passes/pipeline_text.h"

namespace {

absl::Status Ok(tg::Module&, tg::passes::PassContext&) { return absl::OkStatus(); }

constexpr tg::passes::PassOption kOptions[] = {
    {"max", tg::passes::PassOption::Kind::kInt, "4", ""},
    {"explain", tg::passes::PassOption::Kind::kFlag, "false", ""},
    {"opts", tg::passes::PassOption::Kind::kString, "", ""},
};
constexpr tg::passes::Pass kLower = {"lower", "", kOptions, &Ok};
constexpr tg::passes::Pass kPlain = {"plain", "", {}, &Ok};
constexpr const tg::passes::Pass* kPasses[] = {&kLower, &kPlain};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const tg::passes::PassRegistry& registry = *[] {
    auto* r = new tg::passes::PassRegistry;
    r->AddAll(kPasses);
    return r;
  }();
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const absl::StatusOr<tg::passes::Pipeline> pipeline =
      tg::passes::ParsePipeline(text, registry, kPasses);
  if (!pipeline.ok()) return 0;
  const std::string printed = tg::passes::PrintPipeline(*pipeline);
  const absl::StatusOr<tg::passes::Pipeline> again = tg::passes::ParsePipeline(printed, registry);
  TG_CHECK(again.ok());
  TG_CHECK(tg::passes::PrintPipeline(*again) == printed);
  return 0;
}
