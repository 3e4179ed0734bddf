// Column sums on a CPU: sums over the rows of a row-major matrix, so that the results, not the
// terms, are contiguous in memory. A vector times a row-major matrix is one of them.
#ifndef TG_PASSES_SCHEDULE_CPU_COLUMN_SUMS_H_
#define TG_PASSES_SCHEDULE_CPU_COLUMN_SUMS_H_

#include "passes/schedule/rules.h"

namespace tg::schedule {

// Proposes schedules for a kernel of column sums: each work-group computes neighbouring columns and
// reads some rows at a time, so that it reads whole cache lines once, in a few long streams. If a
// group has few columns, their sums stay in registers. Otherwise they stay in the output, and each
// block of rows is added to them. None for matrices whose elements are used by many results, since
// packing them is better.
void ProposeCpuColumnSums(ScheduleBuilder& t, Proposals& to);

}  // namespace tg::schedule

#endif  // TG_PASSES_SCHEDULE_CPU_COLUMN_SUMS_H_
