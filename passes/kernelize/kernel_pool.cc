#include "passes/kernelize/kernel_pool.h"

#include <utility>

#include "passes/analysis/kernel_axes.h"
#include "passes/analysis/structural_key.h"

namespace tg::kernelize {

KernelPool::KernelPool(Module& module) : module_(module) {
  for (const auto& k : module.kernels) {
    names_.insert(k->name);
    if (k->stage != Stage::kKernel || !k->directives.empty()) continue;
    by_key_[analysis::StructuralKey(k->body, k->body.Order())] = k->name;
  }
}

std::string KernelPool::Add(std::unique_ptr<Kernel> kernel, passes::PassContext& context) {
  const std::vector<const UOp*> order = kernel->body.Order();
  std::string key = analysis::StructuralKey(kernel->body, order);
  const auto found = by_key_.find(key);
  if (found != by_key_.end()) {
    ++context.statistics["kernelize.equal-kernels"];
    return found->second;
  }
  ShapeMap shapes(module_, *kernel->body.context);
  kernel->axes = analysis::ToAxes(analysis::BaseAxes(module_, *kernel, shapes, order));
  const std::string name =
      analysis::UniqueKernelName(analysis::KernelName(kernel->axes), key, names_);
  names_.insert(name);
  kernel->name = name;
  by_key_[std::move(key)] = name;
  module_.kernels.push_back(std::move(kernel));
  ++context.statistics["kernelize.kernels"];
  return name;
}

}  // namespace tg::kernelize
