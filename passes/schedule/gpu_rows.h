// Row fusion on a GPU.
#ifndef TG_PASSES_SCHEDULE_GPU_ROWS_H_
#define TG_PASSES_SCHEDULE_GPU_ROWS_H_

#include "passes/schedule/schedule_builder.h"

namespace tg {

// Schedules a kernel whose rows share a reduce along `shared`: a group computes a row, and its
// work-items share the reduces. A short row is computed by one work-item.
void ScheduleGpuRows(ScheduleBuilder& t, LoopSet shared);

}  // namespace tg

#endif  // TG_PASSES_SCHEDULE_GPU_ROWS_H_
