// Row fusion on a CPU: a kernel in which some reduce, such as a softmax's sum, is invariant along
// an axis of the results.
#ifndef TG_PASSES_SCHEDULE_CPU_ROWS_H_
#define TG_PASSES_SCHEDULE_CPU_ROWS_H_

#include "passes/schedule/rules.h"

namespace tg::schedule {

// Proposes schedules for a kernel with reduces that are invariant along some axes of results. A row
// is the results along these axes; one work-item computes it, so that each such reduce is computed
// once per row. Vectors run along results or along terms, and along the axes or the terms of each
// staged value.
void ProposeCpuRows(ScheduleBuilder& t, Proposals& to);

}  // namespace tg::schedule

#endif  // TG_PASSES_SCHEDULE_CPU_ROWS_H_
