#include "passes/kernelize/kernel_pool.h"

#include <utility>

#include "passes/analysis/kernel_axes.h"
#include "passes/analysis/structural_key.h"

namespace tg {

KernelPool::KernelPool(Module& module) : module_(module) {
  for (const auto& k : module.kernels) {
    names_.insert(k->name);
    if (k->stage == Stage::kKernel && k->opts.empty()) by_key_[StructuralKey(k->body)] = k->name;
  }
}

std::string KernelPool::Add(std::unique_ptr<Kernel> kernel, PassContext& context) {
  std::string key = StructuralKey(kernel->body);
  const auto found = by_key_.find(key);
  if (found != by_key_.end()) {
    ++context.statistics["kernelize.equal-kernels"];
    return found->second;
  }
  ShapeMap shapes(module_, *kernel->body.context);
  kernel->axes = ToAxes(BaseAxes(module_, *kernel, shapes));
  const std::string name = UniqueKernelName(KernelName(kernel->axes), key, names_);
  names_.insert(name);
  kernel->name = name;
  by_key_[std::move(key)] = name;
  module_.kernels.push_back(std::move(kernel));
  ++context.statistics["kernelize.kernels"];
  return name;
}

}  // namespace tg
