#include "codegen/opencl/renderer.h"

#include "absl/strings/str_cat.h"
#include "codegen/opencl/kernel_writer.h"

namespace tg {
namespace {

absl::StatusOr<RenderedKernel> Render(const Module& module, const Kernel& kernel,
                                      const opencl::KernelCalls& calls, const Target& target,
                                      opencl::Prelude& prelude) {
  if (kernel.stage != Stage::kLinear || kernel.body.linear.empty()) {
    return absl::FailedPreconditionError(
        absl::StrCat("opencl: kernel @", kernel.name, " is at stage ",
                     std::string(StageName(kernel.stage)), "; it has to be at stage linear"));
  }
  return opencl::KernelWriter(module, kernel, calls, target).Run(prelude);
}

}  // namespace

absl::StatusOr<RenderedKernel> RenderKernel(const Module& module, const Kernel& kernel,
                                            const Target& target) {
  opencl::Prelude prelude;
  return Render(module, kernel, opencl::KernelCalls(module), target, prelude);
}

absl::StatusOr<RenderedModule> RenderModule(const Module& module,
                                            std::span<const Kernel* const> kernels,
                                            const Target& target) {
  RenderedModule all;
  const opencl::KernelCalls calls(module);
  opencl::Prelude prelude;
  std::string bodies;
  for (const Kernel* kernel : kernels) {
    opencl::Prelude mine;
    auto rendered = Render(module, *kernel, calls, target, mine);
    if (!rendered.ok()) return rendered.status();
    prelude.Merge(mine);
    absl::StrAppend(&bodies, bodies.empty() ? "" : "\n", rendered->body);
    all.kernels.push_back(*std::move(rendered));
  }
  all.source = absl::StrCat(prelude.Text(), bodies);
  return all;
}

absl::StatusOr<RenderedModule> RenderModule(const Module& module, const Target& target) {
  std::vector<const Kernel*> kernels;
  for (const auto& k : module.kernels) kernels.push_back(k.get());
  return RenderModule(module, kernels, target);
}

}  // namespace tg
