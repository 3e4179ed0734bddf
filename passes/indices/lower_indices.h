// The rewrites AssignLoops and LowerIndices: what `lower` begins with, and what others ask of it
// before a kernel is lowered.
#ifndef TG_PASSES_INDICES_LOWER_INDICES_H_
#define TG_PASSES_INDICES_LOWER_INDICES_H_

#include "absl/status/status.h"
#include "ir/kernel_calls.h"
#include "ir/walk.h"
#include "passes/simplify/simplify.h"
#include "passes/target.h"

namespace tg::indices {

// Rewrites the body of a kernel at Stage::kKernel in the form of Stage::kLowered: gives every axis
// of its loop nest a coordinate, and maps the indices of stores through movement ops down to the
// loads. A reduce becomes `reduce` over ranges, `group_reduce` over local ids and `contract` over
// lanes, or arithmetic if algebra computes it without a loop; a staged or packed value becomes a
// `stage`. Sets the kernel's axes, but not its stage.
absl::Status LowerIndices(const Module& module, const KernelCalls& calls, Kernel& kernel,
                          const passes::Target& target, simplify::Simplifier& simplifier);

// The reduces of a kernel at Stage::kKernel that are computed without a loop if no directive refers
// to their axes: a one-hot row times a table is a load. Does not change the kernel.
NodeSet FoldedReduces(const Module& module, const KernelCalls& calls, const Kernel& kernel,
                      const passes::Target& target);

}  // namespace tg::indices

#endif  // TG_PASSES_INDICES_LOWER_INDICES_H_
