// Loop fission between several long sums of one result, for example two products that are added, or
// a convolution and its shortcut. All results of one sum in a group are computed and staged before
// the next sum starts, so that each sum has the registers and the nearest cache for itself.
#ifndef TG_PASSES_SCHEDULE_FISSION_H_
#define TG_PASSES_SCHEDULE_FISSION_H_

#include <vector>

#include "ir/walk.h"
#include "passes/schedule/schedule_builder.h"

namespace tg {

// Marks all such sums but the last as staged. Called before the loops over results are chosen.
// `share`: even if two sums read the same argument.
void FindStagedSums(ScheduleBuilder& t, bool share);
// Chooses the loop at which the fission starts: the outermost one for which the staged sums fit
// into their share of the core's cache. If there is none, no sum is staged.
void FindFissionLoop(ScheduleBuilder& t);

// The nodes of each loop body after fission: one set for each staged sum, then one for each store.
std::vector<NodeSet> LoopBodies(const ScheduleBuilder& t);

}  // namespace tg

#endif  // TG_PASSES_SCHEDULE_FISSION_H_
