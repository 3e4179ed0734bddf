#include "codegen/opencl/renderer.h"

#include "codegen/clike/render_kernels.h"
#include "codegen/opencl/kernel_writer.h"

namespace tg::opencl {
absl::StatusOr<codegen::RenderedKernel> RenderKernel(const Module& module, const Kernel& kernel,
                                                     const passes::Target& target) {
  if (absl::Status s = codegen::CheckStage("opencl", kernel); !s.ok()) return s;
  Prelude prelude;
  return OpenClWriter(module, kernel, KernelCalls(module), target).Run(prelude);
}

absl::StatusOr<codegen::RenderedModule> RenderModule(const Module& module,
                                                     std::span<const Kernel* const> kernels,
                                                     const passes::Target& target,
                                                     passes::ThreadPool* workers) {
  return clike::RenderKernels<Prelude>(
      "opencl", module, kernels, workers,
      [&](const Kernel& kernel, const KernelCalls& calls, Prelude& prelude) {
        return OpenClWriter(module, kernel, calls, target).Run(prelude);
      });
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
