// Kernels of rows on a CPU: some reduce stays the same along an axis of what is stored.
#ifndef TG_PASSES_OPTIMIZE_CPU_ROWS_H_
#define TG_PASSES_OPTIMIZE_CPU_ROWS_H_

#include "passes/optimize/heuristic.h"

namespace tg {

// Rows that share a reduce, which stays the same along the axes `shared`: a work-item goes through
// a row, with the terms of each reduce side by side unless its results are.
void TuneCpuRows(Tuner& t, LoopSet shared);

}  // namespace tg

#endif  // TG_PASSES_OPTIMIZE_CPU_ROWS_H_
