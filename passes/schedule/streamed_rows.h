// Schedules a product of few rows on a CPU: the matrix of the lanes is read once, row by row, as it
// lies in memory.
#ifndef TG_PASSES_SCHEDULE_STREAMED_ROWS_H_
#define TG_PASSES_SCHEDULE_STREAMED_ROWS_H_

#include <vector>

#include "ir/dtype.h"
#include "passes/loop_nest/loop_nest.h"
#include "passes/schedule/contraction_blocking.h"
#include "passes/target.h"

namespace tg::schedule {

// Whether reading the matrix of the lanes takes at least half as long as the multiply-adds, and the
// matrix does not stay in a core's cache: then a packed copy of it is used too few times.
bool IsBoundByLanes(const loop_nest::LoopNest& nest, const Roles& roles, const Product& product,
                    const passes::Target& target, DType type);

// Schedules, each the list of its directives, one for each shape of the register tile:
//
//   for each block of terms                 as many rows of the matrix as a core prefetches
//     for each strip of lanes
//       for each tile of rows               the strip stays in the nearest cache
//         for each term of the block: results += row element * strip
//
// Results are kept in the output from one block of terms to the next. Empty unless the matrix is
// row-major, with one axis each of rows, lanes and terms, and the sums may be kept there.
std::vector<std::vector<Directive>> StreamedRows(const loop_nest::LoopNest& nest,
                                                 const Roles& roles, const Product& product,
                                                 const passes::Target& target, DType type);

}  // namespace tg::schedule

#endif  // TG_PASSES_SCHEDULE_STREAMED_ROWS_H_
