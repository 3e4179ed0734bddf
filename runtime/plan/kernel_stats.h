// The work of a kernel: arithmetic and memory traffic, counted on its linear form.
#ifndef TG_RUNTIME_PLAN_KERNEL_STATS_H_
#define TG_RUNTIME_PLAN_KERNEL_STATS_H_

#include "absl/status/statusor.h"
#include "ir/module.h"
#include "runtime/plan/executable.h"
#include "runtime/plan/plan.h"

namespace tg::runtime {

// Counts the work of a kernel at stage linear; `var` gives the value of each variable. Gated
// accesses count as executed and blocks as entered, unless variables alone decide that they are
// not, so the result is an upper bound. A block or loop that depends on a single work-item id
// counts with its mean number of executions. InvalidArgument if the size of a loop or grid depends
// on values other than variables, such as another loop's counter.
absl::StatusOr<KernelWork> CountWork(const Kernel& kernel, const VarLookup& var);

}  // namespace tg::runtime

#endif  // TG_RUNTIME_PLAN_KERNEL_STATS_H_
