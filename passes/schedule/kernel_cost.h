// The predicted cost of a kernel by its directives.
#ifndef TG_PASSES_SCHEDULE_KERNEL_COST_H_
#define TG_PASSES_SCHEDULE_KERNEL_COST_H_

#include "absl/status/statusor.h"
#include "ir/kernel_calls.h"
#include "ir/module.h"
#include "passes/cost/predict_cost.h"
#include "passes/target.h"

namespace tg {

// The cost of a kernel at Stage::kKernel. InvalidArgument if a directive is not legal.
absl::StatusOr<Cost> KernelCost(const Module& module, const KernelCalls& calls,
                                const Kernel& kernel, const Target& target);

}  // namespace tg

#endif  // TG_PASSES_SCHEDULE_KERNEL_COST_H_
