// From a schedule to Body::linear: what opens and closes blocks.
#ifndef TG_PASSES_LINEARIZE_BLOCKS_H_
#define TG_PASSES_LINEARIZE_BLOCKS_H_

#include <vector>

#include "absl/status/status.h"
#include "ir/module.h"
#include "passes/linearize/nest.h"
#include "passes/linearize/schedule.h"

namespace tg::linearize {

// Every work-item of a group must reach a barrier equally often: the loops around one (and around
// whatever else a subgroup does together) have sizes that do not differ within the group.
absl::Status CheckBarriers(const Nest& nest);

// Sets body.linear and body.root. A loop that several ends close gets one end in their place, so
// what follows them is made anew. Stores with a gate go between `if` and `endif`; neighbours with
// the same gate share them.
void WriteBlocks(const Nest& nest, const std::vector<Step>& steps, Body& body);

}  // namespace tg::linearize

#endif  // TG_PASSES_LINEARIZE_BLOCKS_H_
