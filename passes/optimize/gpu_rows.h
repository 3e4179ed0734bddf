// Kernels of rows on a GPU.
#ifndef TG_PASSES_OPTIMIZE_GPU_ROWS_H_
#define TG_PASSES_OPTIMIZE_GPU_ROWS_H_

#include "passes/optimize/heuristic.h"

namespace tg {

// Rows that share a reduce along `shared`: a group goes through a row, and its work-items share the
// reduces. Short rows are left to a work-item.
void TuneGpuRows(Tuner& t, LoopSet shared);

}  // namespace tg

#endif  // TG_PASSES_OPTIMIZE_GPU_ROWS_H_
