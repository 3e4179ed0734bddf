// Chooses a schedule for each kernel. A kernel that has directives keeps them, and they are
// checked. A kernel without directives gets them from the heuristic for the kind of target. Only
// the header of the kernel changes, and its body if values are staged or packed; pass `lower`
// applies the directives. Tests: passes/schedule/test.
#ifndef TG_PASSES_SCHEDULE_SCHEDULE_H_
#define TG_PASSES_SCHEDULE_SCHEDULE_H_

#include "absl/status/statusor.h"
#include "ir/kernel_calls.h"
#include "ir/module.h"
#include "passes/cost/cost.h"
#include "passes/pass.h"
#include "passes/target.h"

namespace tg::schedule {

extern const passes::Pass kSchedulePass;

// The predicted cost of a kernel at Stage::kKernel without directives, as the pass would schedule
// it. The kernel stays as it is.
absl::StatusOr<cost::Cost> ChosenCost(const Module& module, const KernelCalls& calls,
                                      const Kernel& kernel, const passes::Target& target);

}  // namespace tg::schedule

#endif  // TG_PASSES_SCHEDULE_SCHEDULE_H_
