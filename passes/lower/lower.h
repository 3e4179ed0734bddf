// Lower: from shapes to ranges. Applies a kernel's directives, assigns a coordinate to every axis
// (a work-item id, a loop, or unrolled lanes), maps the indices of stores through movement ops down
// to the loads, and turns every reduce into a loop over an accumulator. Tests: passes/lower/test.
#ifndef TG_PASSES_LOWER_LOWER_H_
#define TG_PASSES_LOWER_LOWER_H_

#include "absl/status/status.h"
#include "ir/kernel_calls.h"
#include "ir/walk.h"
#include "passes/pass.h"

namespace tg {

extern const Pass kLowerPass;

// Brings one kernel from Stage::kKernel to Stage::kLowered. In a kernel that is lowered already, it
// makes the remaining `reduce` and `group_reduce` ops explicit.
absl::Status LowerKernel(const Module& module, const KernelCalls& calls, Kernel& kernel,
                         const Target& target);

// The reduces of a kernel at Stage::kKernel that `lower` computes without a loop if no directive
// refers to their axes: a one-hot row times a table is a load. Does not change the kernel.
NodeSet FoldedReduces(const Module& module, const KernelCalls& calls, const Kernel& kernel,
                      const Target& target);

}  // namespace tg

#endif  // TG_PASSES_LOWER_LOWER_H_
