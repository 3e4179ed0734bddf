// Sums over rows of what is contiguous along the results, on a CPU: sums of columns, a vector times
// a row-major matrix, or few rows times one.
#ifndef TG_PASSES_SCHEDULE_CPU_COLUMN_SUMS_H_
#define TG_PASSES_SCHEDULE_CPU_COLUMN_SUMS_H_

#include "passes/schedule/schedule_builder.h"

namespace tg {

// Schedules such a kernel: a group has neighbouring columns and goes through some rows at a time,
// so that whole lines are read once, in a few long streams. The sums of few columns stay in
// registers; those of many are kept in what the kernel stores and are updated for each block of
// rows. Returns false, and does nothing, for other kernels: an element of the matrix that serves
// many results is worth packing.
bool ScheduleCpuColumnSums(ScheduleBuilder& t);

}  // namespace tg

#endif  // TG_PASSES_SCHEDULE_CPU_COLUMN_SUMS_H_
