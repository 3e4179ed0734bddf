// Contractions on a CPU: both operands are packed into panels, in blocks of terms and results that
// stay in a core's caches (Goto and van de Geijn, "Anatomy of High-Performance Matrix
// Multiplication", TOMS 2008; Low et al., "Analytical Modeling Is Enough for High-Performance
// BLIS", TOMS 2016).
#ifndef TG_PASSES_SCHEDULE_CPU_CONTRACTION_H_
#define TG_PASSES_SCHEDULE_CPU_CONTRACTION_H_

#include "passes/schedule/contraction.h"
#include "passes/schedule/schedule_builder.h"

namespace tg {

// Chooses a schedule for contractions whose results are lanes along one operand's axes and rows
// along the other's: writes `packed` ops into the kernel's body, and directives into its header.
// Several products are summed by turns for each tile of results, if their operands share the roles.
// Returns the schedule, or nullopt where the operands are used too rarely for copies of them to
// pay; the body may have changed then.
std::optional<LoopNest> ScheduleCpuContraction(const Module& module, const KernelCalls& calls,
                                               Kernel& kernel, const Target& target);

}  // namespace tg

#endif  // TG_PASSES_SCHEDULE_CPU_CONTRACTION_H_
