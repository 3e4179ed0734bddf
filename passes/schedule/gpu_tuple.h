// Schedules kernels on a GPU that combine tuples of two products, as attention does
// (kernelize/online_softmax.h).
#ifndef TG_PASSES_SCHEDULE_GPU_TUPLE_H_
#define TG_PASSES_SCHEDULE_GPU_TUPLE_H_

#include <optional>

#include "ir/kernel_calls.h"
#include "ir/module.h"
#include "passes/loop_nest/loop_nest.h"
#include "passes/target.h"

namespace tg::schedule {

// Both products become matrix instructions: scores = queries * keys, and exponentials of scores *
// values. A subgroup has 16 queries, whose scores of a block, and results, are in its registers;
// the exponentials are where the second product takes them, so that no work-item reads another's.
// The keys and values of a block are copied to local memory ahead. Gives the kernel directives, and
// marks what is copied as `packed`. Nullopt, and the kernel as it was, if it is none of this form.
std::optional<loop_nest::LoopNest> ScheduleGpuTuple(const Module& module, const KernelCalls& calls,
                                                    Kernel& kernel, const passes::Target& target);

}  // namespace tg::schedule

#endif  // TG_PASSES_SCHEDULE_GPU_TUPLE_H_
