// A kernel without reduces whose load and store have different contiguous axes, such as one that
// puts the channels of an image last.
#ifndef TG_PASSES_SCHEDULE_GPU_TRANSPOSE_H_
#define TG_PASSES_SCHEDULE_GPU_TRANSPOSE_H_

#include "passes/schedule/schedule_builder.h"

namespace tg::schedule {

// Gives each work-item a square of elements, which it loads as vectors along one of the axes and
// stores as vectors along the other, and each group whole sectors along both. Returns false if the
// kernel is not of this form.
bool ScheduleGpuTranspose(ScheduleBuilder& t);

}  // namespace tg::schedule

#endif  // TG_PASSES_SCHEDULE_GPU_TRANSPOSE_H_
