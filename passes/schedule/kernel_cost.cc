#include "passes/schedule/kernel_cost.h"

#include <utility>
#include <vector>

#include "passes/cost/predict_cost.h"
#include "passes/directives/directives.h"
#include "passes/simplify/simplify.h"

namespace tg {
namespace {

Kernel CloneOf(const Kernel& kernel) {
  Kernel clone;
  clone.name = kernel.name;
  CloneBody(kernel.body, clone.body);
  return clone;
}

}  // namespace

KernelCosts::KernelCosts(const Module& module, const KernelCalls& calls, const Kernel& kernel,
                         const Target& target)
    : module_(module),
      calls_(calls),
      target_(target),
      clone_(CloneOf(kernel)),
      shapes_(module, *clone_.body.context) {}

absl::StatusOr<Cost> KernelCosts::Of(std::vector<Directive> directives) {
  clone_.directives = std::move(directives);
  absl::StatusOr<LoopNest> nest = MakeLoopNest(module_, calls_, clone_, target_, shapes_);
  if (!nest.ok()) return nest.status();
  if (accesses_.empty()) {
    Simplifier simplifier(*clone_.body.context, &module_);
    accesses_ = FindAccesses(
        clone_.body, nest->base, shapes_, [&](const UOp* u) { return simplifier(u); },
        /*with_staged=*/true);
  }
  return PredictCost(WorkOf(clone_.body, *nest, accesses_, target_), target_);
}

absl::StatusOr<Cost> KernelCost(const Module& module, const KernelCalls& calls,
                                const Kernel& kernel, const Target& target) {
  return KernelCosts(module, calls, kernel, target).Of(kernel.directives);
}

}  // namespace tg
