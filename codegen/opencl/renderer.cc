#include "codegen/opencl/renderer.h"

#include "codegen/opencl/kernel_writer.h"

namespace tg::opencl {
namespace {

absl::StatusOr<codegen::RenderedKernel> Render(const Module& module, const Kernel& kernel,
                                               const KernelCalls& calls,
                                               const passes::Target& target, Prelude& prelude) {
  if (absl::Status s = codegen::CheckStage("opencl", kernel); !s.ok()) return s;
  return OpenClWriter(module, kernel, calls, target).Run(prelude);
}

}  // namespace

absl::StatusOr<codegen::RenderedKernel> RenderKernel(const Module& module, const Kernel& kernel,
                                                     const passes::Target& target) {
  Prelude prelude;
  return Render(module, kernel, KernelCalls(module), target, prelude);
}

absl::StatusOr<codegen::RenderedModule> RenderModule(const Module& module,
                                                     std::span<const Kernel* const> kernels,
                                                     const passes::Target& target,
                                                     passes::ThreadPool* workers) {
  const KernelCalls calls(module);
  std::vector<Prelude> preludes(kernels.size());
  std::vector<absl::StatusOr<codegen::RenderedKernel>> rendered(kernels.size());
  codegen::ForEachKernel(kernels.size(), workers, [&](size_t i) {
    rendered[i] = Render(module, *kernels[i], calls, target, preludes[i]);
  });
  codegen::RenderedModule all;
  Prelude prelude;
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
  for (const codegen::RenderedKernel& kernel : all.kernels) {
    if (&kernel != &all.kernels[0]) all.source += '\n';
    all.source += kernel.body;
  }
  return all;
}

absl::StatusOr<codegen::RenderedModule> RenderModule(const Module& module,
                                                     const passes::Target& target,
                                                     passes::ThreadPool* workers) {
  return codegen::RenderAll(OpenClRenderer(), module, target, workers);
}

const codegen::Renderer& OpenClRenderer() {
  class OpenCl : public codegen::Renderer {
   public:
    std::string_view name() const override { return "opencl"; }
    absl::StatusOr<codegen::RenderedModule> Render(const Module& module,
                                                   std::span<const Kernel* const> kernels,
                                                   const passes::Target& target,
                                                   passes::ThreadPool* workers) const override {
      return RenderModule(module, kernels, target, workers);
    }
  };
  static const OpenCl& renderer = *new OpenCl;
  return renderer;
}

}  // namespace tg::opencl
