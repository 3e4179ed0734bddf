// The predicted cost of kernels at Stage::kKernel.
#ifndef TG_PASSES_SCHEDULE_KERNEL_COST_H_
#define TG_PASSES_SCHEDULE_KERNEL_COST_H_

#include <vector>

#include "absl/status/statusor.h"
#include "ir/kernel_calls.h"
#include "ir/module.h"
#include "ir/shape.h"
#include "passes/analysis/accesses.h"
#include "passes/cost/cost.h"
#include "passes/target.h"

namespace tg::schedule {

// Predicts the cost of one kernel under several schedules. The kernel is analysed in a clone, so
// that its body keeps its form.
class KernelCosts {
 public:
  // `module`, `calls` and `target` must outlive the object.
  KernelCosts(const Module& module, const KernelCalls& calls, const Kernel& kernel,
              const passes::Target& target);

  // The cost with these directives; an error if one is not legal.
  absl::StatusOr<cost::Cost> Of(std::vector<Directive> directives);

 private:
  const Module& module_;
  const KernelCalls& calls_;
  const passes::Target& target_;
  Kernel clone_;
  ShapeMap shapes_;
  std::vector<analysis::Access> accesses_;  // found when the first schedule is asked for
};

// The cost of a kernel with its own directives; an error if one is not legal.
absl::StatusOr<cost::Cost> KernelCost(const Module& module, const KernelCalls& calls,
                                      const Kernel& kernel, const passes::Target& target);

}  // namespace tg::schedule

#endif  // TG_PASSES_SCHEDULE_KERNEL_COST_H_
