#include "passes/schedule/kernel_cost.h"

#include <vector>

#include "passes/analysis/accesses.h"
#include "passes/directives/directives.h"
#include "passes/simplify/simplify.h"

namespace tg {

absl::StatusOr<Cost> KernelCost(const Module& module, const KernelCalls& calls,
                                const Kernel& kernel, const Target& target) {
  // Accesses are analysed in a copy, so that the body keeps its form.
  Kernel copy;
  copy.name = kernel.name;
  copy.directives = kernel.directives;
  CloneBody(kernel.body, copy.body);
  ShapeMap shapes(module, *copy.body.context);
  absl::StatusOr<LoopNest> nest = MakeLoopNest(module, calls, copy, target, shapes);
  if (!nest.ok()) return nest.status();
  Simplifier simplifier(*copy.body.context, &module);
  const std::vector<Access> accesses = FindAccesses(
      copy.body, nest->base, shapes, [&](const UOp* u) { return simplifier(u); },
      /*with_staged=*/true);
  return PredictCost(WorkOf(copy.body, *nest, accesses, target), target);
}

}  // namespace tg
