// Lower: from shapes to ranges. Applies a kernel's opts, gives every axis its coordinate (a
// work-item id, a loop, or unrolled lanes), maps the indices of what is stored through the movement
// ops down to the loads, and makes every reduce a loop over an accumulator. Tests:
// passes/lower/test.
#ifndef TG_PASSES_LOWER_LOWER_H_
#define TG_PASSES_LOWER_LOWER_H_

#include "absl/status/status.h"
#include "ir/kernel_calls.h"
#include "ir/walk.h"
#include "passes/pass.h"

namespace tg {

extern const Pass kLowerPass;

// Brings one kernel from Stage::kKernel to Stage::kLowered, or makes what is left of `reduce` and
// `group_reduce` in a lowered one explicit.
absl::Status LowerKernel(const Module& module, const KernelCalls& calls, Kernel& kernel,
                         const Target& target);

// The reduces of a kernel at Stage::kKernel that `lower` does without a loop, as long as no opt
// touches their axes: a one-hot row times a table is a load. The kernel stays as it is.
NodeSet FoldedReduces(const Module& module, const KernelCalls& calls, const Kernel& kernel,
                      const Target& target);

}  // namespace tg

#endif  // TG_PASSES_LOWER_LOWER_H_
