// Contractions on a GPU: a group copies blocks of both operands to local memory, and its work-items
// keep tiles of results in registers (V. Volkov, J. Demmel, "Benchmarking GPUs to Tune Dense Linear
// Algebra", SC 2008; NVIDIA CUTLASS, "Efficient GEMM in CUDA").
#ifndef TG_PASSES_SCHEDULE_GPU_CONTRACTION_H_
#define TG_PASSES_SCHEDULE_GPU_CONTRACTION_H_

#include <optional>

#include "passes/loop_nest/loop_nest.h"

namespace tg {

// Chooses a schedule for a sum of products along one axis, of results along two: writes `packed`
// ops into the kernel's body, and directives into its header. Returns the schedule, or nullopt
// where copies would not pay; the body may have changed then.
std::optional<LoopNest> ScheduleGpuContraction(const Module& module, const KernelCalls& calls,
                                               Kernel& kernel, const Target& target);

}  // namespace tg

#endif  // TG_PASSES_SCHEDULE_GPU_CONTRACTION_H_
