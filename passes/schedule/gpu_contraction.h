// Schedules contractions for a GPU. A work-group copies blocks of both operands to local memory,
// and its work-items keep tiles of results in registers (V. Volkov, J. Demmel, "Benchmarking GPUs
// to Tune Dense Linear Algebra", SC 2008; NVIDIA CUTLASS, "Efficient GEMM in CUDA").
#ifndef TG_PASSES_SCHEDULE_GPU_CONTRACTION_H_
#define TG_PASSES_SCHEDULE_GPU_CONTRACTION_H_

#include <optional>

#include "passes/loop_nest/loop_nest.h"
#include "passes/schedule/candidates.h"

namespace tg::schedule {

// Chooses a schedule for a kernel with one sum of products. Two axes of the result and one of the
// terms are tiled, each of which may be merged from several: a convolution has the pixels of an
// image, the channels of the result, and the channels and places of its window. Writes `packed` ops
// into the kernel's body and directives into its header. Returns the schedule. Returns nullopt if
// copies to local memory would not pay; the caller must then restore the body, which may have
// changed.
// `candidates`: null, or receives the schedules that were considered.
std::optional<loop_nest::LoopNest> ScheduleGpuContraction(const Module& module,
                                                          const KernelCalls& calls, Kernel& kernel,
                                                          const passes::Target& target,
                                                          Candidates* candidates);

}  // namespace tg::schedule

#endif  // TG_PASSES_SCHEDULE_GPU_CONTRACTION_H_
