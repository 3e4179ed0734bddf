#include "passes/pass.h"

#include <charconv>
#include <vector>

#include "base/check.h"

namespace tg::passes {

std::string_view PassContext::String(std::string_view name) const {
  const auto it = options.find(name);
  TG_CHECK(it != options.end());  // the pass asks for an option that it did not declare
  return it->second;
}

int64_t PassContext::Int(std::string_view name) const {
  const std::string_view text = String(name);
  int64_t v = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), v);
  TG_CHECK(error == std::errc() && end == text.data() + text.size());
  return v;
}

bool PassContext::Flag(std::string_view name) const { return String(name) == "true"; }

absl::Status ForEachKernel(Module& module, PassContext& context,
                           llvm::function_ref<absl::Status(Kernel&, Statistics&)> work) {
  const size_t n = module.kernels.size();
  if (!context.workers || n < 2) {
    for (const auto& kernel : module.kernels) {
      if (absl::Status s = work(*kernel, context.statistics); !s.ok()) return s;
    }
    return absl::OkStatus();
  }
  std::vector<Statistics> statistics(n);
  std::vector<absl::Status> statuses(n);
  context.workers->ForEach(
      n, [&](size_t i) { statuses[i] = work(*module.kernels[i], statistics[i]); });
  for (size_t i = 0; i < n; ++i) {
    if (!statuses[i].ok()) return statuses[i];
    for (const auto& [name, count] : statistics[i]) context.statistics[name] += count;
  }
  return absl::OkStatus();
}

}  // namespace tg::passes
