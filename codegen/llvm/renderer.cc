#include "codegen/llvm/renderer.h"

#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "codegen/llvm/kernel_writer.h"

namespace tg::llvm_ir {

absl::StatusOr<NativeKernel> RenderKernel(const Module& module, const Kernel& kernel,
                                          const KernelCalls& calls, const passes::Target& target) {
  if (kernel.stage != Stage::kLinear || kernel.body.linear.empty()) {
    return absl::FailedPreconditionError(
        absl::StrCat("llvm: kernel @", kernel.name, " is at stage ",
                     std::string(StageName(kernel.stage)), "; it has to be at stage linear"));
  }
  return KernelWriter(module, kernel, calls, target).Run();
}

absl::StatusOr<std::string> RenderModule(const Module& module, const passes::Target& target) {
  const KernelCalls calls(module);
  std::vector<NativeKernel> kernels;
  for (const auto& kernel : module.kernels) {
    auto rendered = RenderKernel(module, *kernel, calls, target);
    if (!rendered.ok()) return rendered.status();
    kernels.push_back(*std::move(rendered));
  }
  return ModuleText(kernels, target);
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
