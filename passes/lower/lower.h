// Lower: from shapes to ranges, by four rewrites. AssignLoops gives every axis of the kernel's loop
// nest a coordinate: a work-item id, a loop or unrolled lanes. LowerIndices maps the indices of
// stores through movement ops down to the loads. LowerReduces makes every `reduce` a loop over an
// accumulator. PlaceStaged gives every `stage` its memory, and the loops and barriers that fill it.
// Tests: passes/lower/test.
#ifndef TG_PASSES_LOWER_LOWER_H_
#define TG_PASSES_LOWER_LOWER_H_

#include "absl/status/status.h"
#include "ir/kernel_calls.h"
#include "ir/walk.h"
#include "passes/pass.h"

namespace tg::lower {

extern const passes::Pass kLowerPass;

// The last rewrite that runs.
enum class LowerUntil { kIndices, kReduces, kEnd };

// Brings one kernel from Stage::kKernel to Stage::kLowered, by the rewrites up to `until`. In a
// kernel that is at Stage::kLowered already, `reduce`, `group_reduce` and `stage` ops may remain;
// LowerReduces and PlaceStaged lower them. A kernel at another stage is left unchanged. Errors name
// the kernel.
absl::Status LowerKernel(const Module& module, const KernelCalls& calls, Kernel& kernel,
                         const passes::Target& target, LowerUntil until = LowerUntil::kEnd);

}  // namespace tg::lower

#endif  // TG_PASSES_LOWER_LOWER_H_
