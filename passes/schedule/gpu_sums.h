// Reduces on a GPU that the work-items of a group share.
#ifndef TG_PASSES_SCHEDULE_GPU_SUMS_H_
#define TG_PASSES_SCHEDULE_GPU_SUMS_H_

#include "passes/schedule/schedule_builder.h"

namespace tg {

// Each function returns whether the kernel is of its kind, and applies directives if so.

// A reduce that reads each operand once, so that memory bandwidth decides. If the terms are
// contiguous, a group reduces a row. Otherwise neighbouring work-items compute neighbouring
// results, and several rows of them share the terms where there are few results.
bool Sums(ScheduleBuilder& t);
// A reduce over the results of another one, for example the pooling of a product. The work-items of
// a group compute the inner results for a few neighbouring outputs, and then reduce them.
bool NestedReduce(ScheduleBuilder& t);
// The same where the inner reduce is over windows, which overlap for neighbouring pixels: one
// work-item computes all of them. The other rules still apply afterwards.
bool NestedWindows(ScheduleBuilder& t);
// Few results: the work-items of a group share each of them.
bool GroupReduce(ScheduleBuilder& t);

// How many work-items may share a reduce of `steps` iterations.
int64_t MaxSharingItems(int64_t steps);

// Lets some work-items share the reduces of each tile of results, where there are too few tiles to
// keep the device busy. Called after the tiles are chosen.
void ShareReduces(ScheduleBuilder& t);

}  // namespace tg

#endif  // TG_PASSES_SCHEDULE_GPU_SUMS_H_
