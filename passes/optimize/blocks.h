// Blocks of results on a CPU: which axis a work-item loops over, how far, for which stores, and in
// which order groups follow, so that what is read again is still in a core's cache.
#ifndef TG_PASSES_OPTIMIZE_BLOCKS_H_
#define TG_PASSES_OPTIMIZE_BLOCKS_H_

#include "passes/optimize/heuristic.h"

namespace tg {

// A little is not worth it: groups that write side by side are simpler.
inline constexpr double kWorthIt = 0.8;

// Makes a global axis, or a part of it, a loop, and lets the groups go through all else while they
// read the same part, if that saves reading from memory; at least `groups` groups are left. False:
// nothing was done, since all that is read stays in the cache anyway, or nothing is read again.
// Where one of several stores is worth it by itself, each gets a loop of its own; `only_apart`:
// only such loops.
bool LoopInCache(Tuner& t, int64_t groups, bool only_apart = false);

// Into how many parts the outermost global axis of `along`, base axes that become loops, is best
// cut, so that groups which read the same part of memory follow each other while it is in a core's
// cache: 1 where all of it stays there. Each part copies what is packed for it.
int64_t PartsInCache(const Tuner& t, LoopSet along);

// Lets the groups follow each other along another axis first, if they then find more of what they
// read where those before them left it.
void OrderGroups(Tuner& t);

// Gives each store loops of its own, if what all of them read in one step of the loops does not
// stay in the nearest cache, and what each reads does, so that no more than this share is read.
void DistributeLoops(Tuner& t, double worth = kWorthIt);

}  // namespace tg

#endif  // TG_PASSES_OPTIMIZE_BLOCKS_H_
