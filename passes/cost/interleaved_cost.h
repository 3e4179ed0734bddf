// The terms of units that interleave work-items, as a GPU's do: where one work-item waits, another
// computes, as far as there are others and their registers and local memory fit into the unit.
#ifndef TG_PASSES_COST_INTERLEAVED_COST_H_
#define TG_PASSES_COST_INTERLEAVED_COST_H_

#include "passes/cost/scheduled_work.h"
#include "passes/target.h"

namespace tg::cost {

// Work-groups that a unit holds at a time, at least one: what its work-items, registers and local
// memory allow. The registers of a work-item are estimated by the sums that it keeps.
double ResidentGroups(const ScheduledWork& work, const passes::Target& target);

// Seconds in which the busiest unit moves what its subgroups load and store, through its nearest
// cache and its local memory. An access of a subgroup moves whole sectors, and takes the time of at
// least a word of each work-item.
double AccessSeconds(const ScheduledWork& work, const passes::Target& target);

// Whether matrix instructions of warpgroups read local memory themselves, and the seconds in which
// they do on the busiest unit. Work-items do other things meanwhile, but each group waits for its
// own instructions in every step.
bool HasWarpgroups(const ScheduledWork& work);
double InstructionReadSeconds(const ScheduledWork& work, const passes::Target& target);

// Target::not_overlapped for this work: more where its groups stop at the barriers of copies, and a
// unit holds few that could compute meanwhile.
double NotOverlapped(const ScheduledWork& work, const passes::Target& target);

// Seconds of a work-item of the busiest unit, by rounds of resident groups: it executes one
// instruction after the other, and waits in each step of a loop for loads, and at barriers. The
// device's compiler lets the steps of a short loop wait together, up to
// Target::overlapped_instructions.
double LatencySeconds(const ScheduledWork& work, const passes::Target& target);

}  // namespace tg::cost

#endif  // TG_PASSES_COST_INTERLEAVED_COST_H_
