#include "codegen/renderer.h"

#include "absl/strings/str_cat.h"

namespace tg::codegen {

absl::StatusOr<RenderedModule> RenderAll(const Renderer& renderer, const Module& module,
                                         const passes::Target& target,
                                         passes::ThreadPool* workers) {
  std::vector<const Kernel*> kernels;
  for (const auto& k : module.kernels) kernels.push_back(k.get());
  return renderer.Render(module, kernels, target, workers);
}

absl::Status CheckStage(std::string_view renderer, const Kernel& kernel) {
  if (kernel.stage == Stage::kLinear && !kernel.body.linear.empty()) return absl::OkStatus();
  return absl::FailedPreconditionError(
      absl::StrCat(std::string(renderer), ": kernel @", kernel.name, " is at stage ",
                   std::string(StageName(kernel.stage)), "; it has to be at stage linear"));
}

absl::Status CannotRender(std::string_view renderer, const Kernel& kernel, const UOp* u,
                          std::string_view why) {
  return absl::UnimplementedError(absl::StrCat(std::string(renderer), ": kernel @", kernel.name,
                                               ": cannot render ", std::string(Mnemonic(u->op)),
                                               " : ", u->dtype.ToString(), "; ", std::string(why)));
}

void ForEachKernel(size_t n, passes::ThreadPool* workers, llvm::function_ref<void(size_t)> render) {
  if (workers) {
    workers->ForEach(n, render);
  } else {
    for (size_t i = 0; i < n; ++i) render(i);
  }
}

}  // namespace tg::codegen
