// Row fusion on a CPU: some reduce is invariant along an axis of what is stored.
#ifndef TG_PASSES_SCHEDULE_CPU_ROWS_H_
#define TG_PASSES_SCHEDULE_CPU_ROWS_H_

#include "passes/schedule/schedule_builder.h"

namespace tg {

// Schedules a kernel whose rows share a reduce that is invariant along the axes `shared`. A
// work-item computes a row; the terms of each reduce are vectorized unless its results are.
void ScheduleCpuRows(ScheduleBuilder& t, LoopSet shared);

}  // namespace tg

#endif  // TG_PASSES_SCHEDULE_CPU_ROWS_H_
