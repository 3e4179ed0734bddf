// The share of a device that a kernel keeps busy.
#ifndef TG_PASSES_COST_UTILIZATION_H_
#define TG_PASSES_COST_UTILIZATION_H_

#include "passes/target.h"

namespace tg::cost {

// The share, above 0 and at most 1, of the device's units that work on average while `groups`
// work-groups of `items` work-items each run: units that have no group, or none in the last round,
// are idle, and so are work-items that are missing in a subgroup.
double Utilization(double groups, double items, const passes::Target& target);

}  // namespace tg::cost

#endif  // TG_PASSES_COST_UTILIZATION_H_
