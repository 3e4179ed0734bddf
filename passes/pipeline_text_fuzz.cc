// Any text is a pipeline or an error, never a crash; what is read prints, and reads back the same.
#include <cstddef>
#include <cstdint>

#include "ir/check.h"
#include "passes/pass_registry.h"
#include "passes/pipeline_text.h"

namespace {

absl::Status Ok(tg::Module&, tg::PassContext&) { return absl::OkStatus(); }

constexpr tg::PassOption kOptions[] = {
    {"max", tg::PassOption::Kind::kInt, "4", ""},
    {"explain", tg::PassOption::Kind::kFlag, "false", ""},
    {"opts", tg::PassOption::Kind::kString, "", ""},
};
constexpr tg::Pass kLower = {"lower", "", kOptions, &Ok};
constexpr tg::Pass kPlain = {"plain", "", {}, &Ok};
constexpr const tg::Pass* kPasses[] = {&kLower, &kPlain};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const tg::PassRegistry& registry = *[] {
    auto* r = new tg::PassRegistry;
    r->AddAll(kPasses);
    return r;
  }();
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const absl::StatusOr<tg::Pipeline> pipeline = tg::ParsePipeline(text, registry, kPasses);
  if (!pipeline.ok()) return 0;
  const std::string printed = tg::PrintPipeline(*pipeline);
  const absl::StatusOr<tg::Pipeline> again = tg::ParsePipeline(printed, registry);
  TG_CHECK(again.ok());
  TG_CHECK(tg::PrintPipeline(*again) == printed);
  return 0;
}
