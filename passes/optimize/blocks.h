// Blocks of results on a CPU: which axis a work-item loops over, how far, for which stores, and in
// which order groups follow, so that what is read again is still in a core's cache.
#ifndef TG_PASSES_OPTIMIZE_BLOCKS_H_
#define TG_PASSES_OPTIMIZE_BLOCKS_H_

#include "passes/optimize/heuristic.h"

namespace tg {

// A little is not worth it: groups that write side by side are simpler.
inline constexpr double kWorthIt = 0.8;

// What several stores, or sums that are kept, may have for themselves.
enum class Own {
  kAny,     // a loop of a group, or nothing
  kLoop,    // a loop of a group
  kGroups,  // groups
};

// Makes a global axis, or a part of it, a loop, and lets the groups go through all else while they
// read the same part, if that saves reading from memory; at least `groups` groups are left. False:
// nothing was done, since all that is read stays in the cache anyway, or nothing is read again.
// Loops, not groups, are distributed too.
bool LoopInCache(Tuner& t, int64_t groups, Own own = Own::kAny);

// Into how many parts the outermost global axis of `along`, base axes that become loops, is best
// cut, so that groups which read the same part of memory follow each other while it is in a core's
// cache: 1 where all of it stays there. Each part copies what is packed for it. Loops that there
// are already are around those of `along`, and write pieces of the same lines of memory.
// `own`: whether stores are to have groups of their own.
int64_t PartsInCache(const Tuner& t, LoopSet along, Own own = Own::kAny);

// Lets the groups follow each other along another axis first, if they then find more of what they
// read where those before them left it. `own`: whether stores are to have groups of their own.
void OrderGroups(Tuner& t, Own own = Own::kAny);

// What the groups and their loops read from beyond a core's caches, in bytes, those from beyond the
// nearest one for less. Infinite where an axis is symbolic.
double BytesRead(const Tuner& t);

// Gives each store loops of its own, if what all of them read in one step of the loops does not
// stay in the nearest cache, and what each reads does, so that no more than this share is read.
void DistributeLoops(Tuner& t, double worth = kWorthIt);

}  // namespace tg

#endif  // TG_PASSES_OPTIMIZE_BLOCKS_H_
