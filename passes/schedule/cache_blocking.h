// Cache blocking on a CPU: turns an axis of the grid, or a block of it, into a loop inside each
// work-group, and chooses the order of the work-groups, so that data are still in the core's cache
// when they are read again.
#ifndef TG_PASSES_SCHEDULE_CACHE_BLOCKING_H_
#define TG_PASSES_SCHEDULE_CACHE_BLOCKING_H_

#include "passes/schedule/schedule_builder.h"

namespace tg::schedule {

// Turns one global axis, or a block of its iterations, into a loop, and moves the axis's remaining
// part outermost, so that consecutive work-groups read the same block. Does so only if that saves
// memory traffic and leaves at least `groups` work-groups. Returns whether it did; it does not if
// everything that is read stays in the cache anyway, or if nothing is read twice.
bool LoopInCache(ScheduleBuilder& t, int64_t groups);

// Swaps the outermost global axis with another one if consecutive work-groups then find more of
// their data in the cache. Leaves the order alone if a directive has already set one.
void OrderGroups(ScheduleBuilder& t);

}  // namespace tg::schedule

#endif  // TG_PASSES_SCHEDULE_CACHE_BLOCKING_H_
