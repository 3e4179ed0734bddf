// Schedules contractions for a CPU. Both operands are packed into panels, for blocks of terms and
// results that stay in a core's caches (Goto and van de Geijn, "Anatomy of High-Performance Matrix
// Multiplication", TOMS 2008; Low et al., "Analytical Modeling Is Enough for High-Performance
// BLIS", TOMS 2016).
#ifndef TG_PASSES_SCHEDULE_CPU_CONTRACTION_H_
#define TG_PASSES_SCHEDULE_CPU_CONTRACTION_H_

#include "passes/schedule/contraction.h"
#include "passes/schedule/schedule_builder.h"

namespace tg::schedule {

// Chooses a schedule for a kernel all of whose reduces are contractions. The results along the axes
// of one operand become vector lanes, those along the axes of the other become rows. Writes
// `packed` ops into the kernel's body and directives into its header. If the kernel adds up several
// products, each register tile of results sums them one after the other; the axes must have the
// same roles in all of them. Returns the schedule. Returns nullopt if some reduce is no
// contraction, or if the operands are reused too rarely for copies to pay; the caller must then
// restore the body, which may have changed.
// `plain`: what the body says that the kernel has now. `candidates`: null, or receives the
// schedules that were considered.
std::optional<loop_nest::LoopNest> ScheduleCpuContraction(const Module& module,
                                                          const KernelCalls& calls, Kernel& kernel,
                                                          KernelFacts& plain,
                                                          Candidates* candidates);

}  // namespace tg::schedule

#endif  // TG_PASSES_SCHEDULE_CPU_CONTRACTION_H_
