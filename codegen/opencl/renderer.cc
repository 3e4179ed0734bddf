#include "codegen/opencl/renderer.h"

#include "absl/strings/str_cat.h"
#include "codegen/opencl/kernel_writer.h"

namespace tg::opencl {
namespace {

absl::StatusOr<RenderedKernel> Render(const Module& module, const Kernel& kernel,
                                      const KernelCalls& calls, const passes::Target& target,
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
                                            const passes::Target& target) {
  opencl::Prelude prelude;
  return Render(module, kernel, KernelCalls(module), target, prelude);
}

absl::StatusOr<RenderedModule> RenderModule(const Module& module,
                                            std::span<const Kernel* const> kernels,
                                            const passes::Target& target,
                                            passes::ThreadPool* workers) {
  const KernelCalls calls(module);
  std::vector<opencl::Prelude> preludes(kernels.size());
  std::vector<absl::StatusOr<RenderedKernel>> rendered(kernels.size());
  const auto render = [&](size_t i) {
    rendered[i] = Render(module, *kernels[i], calls, target, preludes[i]);
  };
  if (workers) {
    workers->ForEach(kernels.size(), render);
  } else {
    for (size_t i = 0; i < kernels.size(); ++i) render(i);
  }
  RenderedModule all;
  opencl::Prelude prelude;
  size_t size = 0;
  for (size_t i = 0; i < kernels.size(); ++i) {
    if (!rendered[i].ok()) return rendered[i].status();
    prelude.Merge(preludes[i]);
    size += rendered[i]->body.size() + 1;
    all.kernels.push_back(*std::move(rendered[i]));
  }
  const std::string head = prelude.Text();
  all.source.reserve(head.size() + size);
  all.source = head;
  for (const RenderedKernel& kernel : all.kernels) {
    if (&kernel != &all.kernels[0]) all.source += '\n';
    all.source += kernel.body;
  }
  return all;
}

absl::StatusOr<RenderedModule> RenderModule(const Module& module, const passes::Target& target,
                                            passes::ThreadPool* workers) {
  std::vector<const Kernel*> kernels;
  for (const auto& k : module.kernels) kernels.push_back(k.get());
  return RenderModule(module, kernels, target, workers);
}

}  // namespace tg::opencl
