#include "codegen/llvm/renderer.h"

#include <utility>
#include <vector>

#include "codegen/llvm/kernel_writer.h"
#include "ir/kernel_calls.h"

namespace tg::llvm_ir {
namespace {

class Renderer : public codegen::Renderer {
 public:
  std::string_view name() const override { return kRendererName; }

  absl::StatusOr<codegen::RenderedModule> Render(const Module& module,
                                                 std::span<const Kernel* const> kernels,
                                                 const passes::Target& target,
                                                 passes::ThreadPool* workers) const override {
    const KernelCalls calls(module);
    std::vector<absl::StatusOr<WrittenKernel>> written(kernels.size());
    codegen::ForEachKernel(kernels.size(), workers, [&](size_t i) {
      const absl::Status stage = codegen::CheckStage(name(), *kernels[i]);
      written[i] = stage.ok() ? KernelWriter(module, *kernels[i], calls, target).Run()
                              : absl::StatusOr<WrittenKernel>(stage);
    });
    std::vector<WrittenKernel> all;
    for (absl::StatusOr<WrittenKernel>& kernel : written) {
      if (!kernel.ok()) return kernel.status();
      all.push_back(*std::move(kernel));
    }
    codegen::RenderedModule rendered;
    rendered.source = ModuleText(all, target);
    for (WrittenKernel& kernel : all) rendered.kernels.push_back(std::move(kernel.launch));
    return rendered;
  }
};

}  // namespace

const codegen::Renderer& LlvmRenderer() {
  static const Renderer& renderer = *new Renderer;
  return renderer;
}

passes::Target Adapted(passes::Target target) {
  for (const Op op : {Op::kExp2, Op::kLog2, Op::kSin, Op::kPow}) {
    target.own_functions.set(static_cast<size_t>(op));
  }
  target.fp16 = target.images = target.inline_ptx = false;
  target.fp64 = target.int64 = true;
  return target;
}

}  // namespace tg::llvm_ir
