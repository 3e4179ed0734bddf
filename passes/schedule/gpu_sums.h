// Rules for reduces on a GPU that the work-items of a group compute together.
#ifndef TG_PASSES_SCHEDULE_GPU_SUMS_H_
#define TG_PASSES_SCHEDULE_GPU_SUMS_H_

#include "passes/schedule/schedule_builder.h"

namespace tg::schedule {

// Each of the following functions tests whether the kernel has a certain form. If so, it applies
// directives and returns true.

// A nested reduce whose inner reduces are over windows that overlap for neighbouring results, such
// as the pooling of a convolution: one work-item computes all inner results that an output needs.
// The caller goes on with its other rules even if this returns true.
bool NestedWindows(ScheduleBuilder& t);
// If the kernel has few results, the work-items of a group compute each reduce together.
bool GroupReduce(ScheduleBuilder& t);

// The largest number of work-items that should share a reduce of `steps` iterations: each needs
// Target::least_steps.
int64_t MaxSharingItems(const passes::Target& target, int64_t steps);

// The number of work-items, a power of two, that should share the reduces of each tile so that
// there are enough for the device, with Target::least_steps for each.
int64_t EnoughSharing(const ScheduleBuilder& t);

// Lets `share` work-items share the reduces of each tile, at least two steps each. Must be called
// after the tiles are chosen. Returns false, and changes nothing, if that is not legal.
bool ShareReduces(ScheduleBuilder& t, int64_t share);

}  // namespace tg::schedule

#endif  // TG_PASSES_SCHEDULE_GPU_SUMS_H_
