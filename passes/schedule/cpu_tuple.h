// Kernels on a CPU that combine tuples over blocks of terms (reduce_tuple), as in attention.
#ifndef TG_PASSES_SCHEDULE_CPU_TUPLE_H_
#define TG_PASSES_SCHEDULE_CPU_TUPLE_H_

#include "passes/schedule/schedule_builder.h"

namespace tg::schedule {

// Whether the kernel combines tuples. No other scheduler knows them.
bool CombinesTuples(const ScheduleBuilder& t);

// Results along the axis along which most operands of the terms repeat become vectors, so that
// combining terms needs no sums of lanes, and the operands are read where they are, a scalar at a
// time. Each sum of products of a block is a register tile: these vectors by neighbouring terms, or
// by neighbouring results along the tuple's inner axis.
void ScheduleCpuTuple(ScheduleBuilder& t);

}  // namespace tg::schedule

#endif  // TG_PASSES_SCHEDULE_CPU_TUPLE_H_
