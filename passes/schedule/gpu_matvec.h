// Products of a vector and a matrix on a GPU, whatever the matrix is decoded from.
#ifndef TG_PASSES_SCHEDULE_GPU_MATVEC_H_
#define TG_PASSES_SCHEDULE_GPU_MATVEC_H_

#include "passes/schedule/schedule_builder.h"

namespace tg::schedule {

// Schedules a kernel whose sums read a matrix once, with rows that are contiguous along the terms,
// and a vector again for each row. Returns false, and changes nothing, if it is another kernel or
// has too few terms.
bool ScheduleGpuMatvec(ScheduleBuilder& t);

// Distributes sums over a symbolic number of blocks, as over the keys of a cache, where few results
// leave the device without work: the work-items of a group share the terms of a block.
bool ShareBlocks(ScheduleBuilder& t);

}  // namespace tg::schedule

#endif  // TG_PASSES_SCHEDULE_GPU_MATVEC_H_
