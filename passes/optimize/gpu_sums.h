// Groups of work-items that share a reduce on a GPU.
#ifndef TG_PASSES_OPTIMIZE_GPU_SUMS_H_
#define TG_PASSES_OPTIMIZE_GPU_SUMS_H_

#include "passes/optimize/heuristic.h"

namespace tg {

// Each says whether the kernel is of its kind; if so, it has the opts for that.

// A reduce whose operands are read once each: memory decides. Along the rows of memory a group
// reads a row; across them neighbours read neighbours, and several rows of them share the terms
// where results are few.
bool Sums(Tuner& t);
// A reduce over the results of another one (the pooling of a product): the work-items of a group
// compute these side by side, for a few neighbouring results, and sum them up.
bool NestedReduce(Tuner& t);
// The same where the inner reduce is over windows, which overlap for neighbouring pixels: a
// work-item makes all of them. The rest of the rules are still to be applied.
bool NestedWindows(Tuner& t);
// Few results: a group of work-items for each.
bool GroupReduce(Tuner& t);

// How many work-items may share a reduce of so many steps.
int64_t MostShares(int64_t steps);

// Some work-items for each tile of results, which share the terms of its reduces, where there are
// too few tiles for the device. Once the tiles are made.
void ShareReduces(Tuner& t);

}  // namespace tg

#endif  // TG_PASSES_OPTIMIZE_GPU_SUMS_H_
