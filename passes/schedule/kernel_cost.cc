#include "passes/schedule/kernel_cost.h"

#include <utility>
#include <vector>

#include "passes/cost/predict_cost.h"
#include "passes/directives/directives.h"
#include "passes/simplify/simplify.h"

namespace tg::schedule {
namespace {

Kernel CloneOf(const Kernel& kernel) {
  Kernel clone;
  clone.name = kernel.name;
  CloneBody(kernel.body, clone.body);
  return clone;
}

}  // namespace

KernelCosts::KernelCosts(const Module& module, const KernelCalls& calls, const Kernel& kernel,
                         const passes::Target& target)
    : module_(module),
      calls_(calls),
      target_(target),
      clone_(CloneOf(kernel)),
      shapes_(module, *clone_.body.context) {}

absl::StatusOr<cost::Cost> KernelCosts::Of(std::vector<Directive> directives) {
  clone_.directives = std::move(directives);
  absl::StatusOr<loop_nest::LoopNest> nest =
      directive::MakeLoopNest(module_, calls_, clone_, target_, shapes_);
  if (!nest.ok()) return nest.status();
  if (accesses_.empty()) {
    simplify::Simplifier simplifier(*clone_.body.context, &module_);
    accesses_ = analysis::FindAccesses(
        clone_.body, nest->base, shapes_, [&](const UOp* u) { return simplifier(u); },
        /*with_staged=*/true);
  }
  return cost::PredictCost(cost::WorkOf(clone_.body, *nest, accesses_, target_), target_);
}

absl::StatusOr<cost::Cost> KernelCost(const Module& module, const KernelCalls& calls,
                                      const Kernel& kernel, const passes::Target& target) {
  return KernelCosts(module, calls, kernel, target).Of(kernel.directives);
}

}  // namespace tg::schedule
