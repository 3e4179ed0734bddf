// Row fusion on a CPU: a kernel in which some reduce, such as a softmax's sum, is invariant along
// an axis of the results.
#ifndef TG_PASSES_SCHEDULE_CPU_ROWS_H_
#define TG_PASSES_SCHEDULE_CPU_ROWS_H_

#include "passes/schedule/schedule_builder.h"

namespace tg::schedule {

// Schedules a kernel with reduces that are invariant along the axes `shared`. A row is the results
// along these axes; one work-item computes it, so that each such reduce is computed once per row.
// The terms of each reduce are vectorized, unless it is better to vectorize its results.
void ScheduleCpuRows(ScheduleBuilder& t, analysis::LoopSet shared);

}  // namespace tg::schedule

#endif  // TG_PASSES_SCHEDULE_CPU_ROWS_H_
