// Cache blocking on a CPU: which axis becomes a loop inside a group, with how many iterations, for
// which stores, and in which order the groups run, so that data are still in the core's cache when
// they are read again.
#ifndef TG_PASSES_SCHEDULE_CACHE_BLOCKING_H_
#define TG_PASSES_SCHEDULE_CACHE_BLOCKING_H_

#include "passes/schedule/schedule_builder.h"

namespace tg {

// A saving of less than a fifth is not worth it: groups that write neighbouring results are
// simpler.
inline constexpr double kMaxTrafficShare = 0.8;

// Makes a global axis, or a part of it, a loop, and orders the other groups so that those which
// read the same part are consecutive. Does so if that saves memory traffic, and only if at least
// `groups` groups are left. Returns false if nothing was done: all that is read stays in the cache,
// or nothing is read twice.
bool LoopInCache(ScheduleBuilder& t, int64_t groups);

// Swaps the outermost global axis with another one if consecutive groups then find more of their
// data in the cache.
void OrderGroups(ScheduleBuilder& t);

}  // namespace tg

#endif  // TG_PASSES_SCHEDULE_CACHE_BLOCKING_H_
