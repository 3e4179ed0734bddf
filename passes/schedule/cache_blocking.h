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

// What each of several stores, or staged sums, gets by fission.
enum class Own {
  kAny,     // a loop in a group, or nothing
  kLoop,    // a loop in a group
  kGroups,  // a slice of the grid
};

// Makes a global axis, or a part of it, a loop, and orders the other groups so that those which
// read the same part are consecutive. Does so if that saves memory traffic, and only if at least
// `groups` groups are left. Returns false if nothing was done: all that is read stays in the cache,
// or nothing is read twice. Fission is applied to loops, not to the grid.
bool LoopInCache(ScheduleBuilder& t, int64_t groups, Own own = Own::kAny);

// Returns the best number of parts into which to split the outermost global axis of `along`, base
// axes that become loops, so that consecutive groups read the same part of memory while it is in a
// core's cache; 1 if all of it stays there. Each part packs its operands again. Existing loops
// enclose those of `along`, and their iterations write to the same cache lines. `own`: whether each
// store gets a slice of the grid.
int64_t PartsInCache(const ScheduleBuilder& t, LoopSet along, Own own = Own::kAny);

// Swaps the outermost global axis with another one if consecutive groups then find more of their
// data in the cache. `own`: whether each store gets a slice of the grid.
void OrderGroups(ScheduleBuilder& t, Own own = Own::kAny);

// Bytes that the groups and their loops read from beyond a core's caches. Bytes that come from the
// second cache are weighted less. Infinite if an axis is symbolic.
double BytesRead(const ScheduleBuilder& t);

// Applies loop fission to the stores, if what all of them read in one iteration does not stay in
// the nearest cache and what each of them reads does, and if the traffic is then at most this
// share.
void SplitLoops(ScheduleBuilder& t, double worth = kMaxTrafficShare);

}  // namespace tg

#endif  // TG_PASSES_SCHEDULE_CACHE_BLOCKING_H_
