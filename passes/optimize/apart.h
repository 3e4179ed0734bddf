// Loop distribution over sums, on a CPU: several long sums for each result (two products in a sum,
// a convolution beside its shortcut) are made one after the other for all results of a group, as
// kernels of their own would do it, but that the group keeps what those would store. Each then has
// registers and the nearest cache for itself.
#ifndef TG_PASSES_OPTIMIZE_APART_H_
#define TG_PASSES_OPTIMIZE_APART_H_

#include <vector>

#include "ir/walk.h"
#include "passes/optimize/heuristic.h"

namespace tg {

// Lets the tuner keep all but the last of such sums, before loops over results are chosen. `share`:
// though they read something in common.
void FindSums(Tuner& t, bool share);
// Chooses the outermost of these loops for all of whose steps there is room for the sums; if there
// is none they are kept no longer.
void FindSumsLoop(Tuner& t);

// What each of the loops reads that stores, or sums that are kept, have for themselves.
std::vector<NodeSet> LoopBodies(const Tuner& t);

}  // namespace tg

#endif  // TG_PASSES_OPTIMIZE_APART_H_
