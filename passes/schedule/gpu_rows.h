// Row fusion on a GPU.
#ifndef TG_PASSES_SCHEDULE_GPU_ROWS_H_
#define TG_PASSES_SCHEDULE_GPU_ROWS_H_

#include "passes/schedule/schedule_builder.h"

namespace tg::schedule {

// Schedules a kernel with reduces that are invariant along the result axes `shared`. A row is the
// results along these axes. A group computes one row or, with `in_tiles`, a few, and its work-items
// share the reduces; a short row is computed by one work-item.
void ScheduleGpuRows(ScheduleBuilder& t, analysis::LoopSet shared, bool in_tiles);

}  // namespace tg::schedule

#endif  // TG_PASSES_SCHEDULE_GPU_ROWS_H_
