// Writes a schedule to Body::linear, with the ops that open and close blocks.
#ifndef TG_PASSES_LINEARIZE_BLOCK_WRITER_H_
#define TG_PASSES_LINEARIZE_BLOCK_WRITER_H_

#include <vector>

#include "absl/status/status.h"
#include "ir/module.h"
#include "passes/linearize/instruction_order.h"
#include "passes/linearize/nest.h"

namespace tg::linearize {

// Checks that every work-item of a group reaches each barrier equally often: the trip counts of the
// loops around a barrier (or around an op that a subgroup executes together) must be uniform within
// the group.
absl::Status CheckBarriers(const Nest& nest);

// Sets body.linear and body.root. If several ends close a loop, one end replaces them, so the nodes
// that depend on them are rebuilt. A store with a gate goes between `if` and `endif`; successive
// stores with the same gate share them, up to a limit.
void WriteBlocks(const Nest& nest, const std::vector<Step>& steps, Body& body);

}  // namespace tg::linearize

#endif  // TG_PASSES_LINEARIZE_BLOCK_WRITER_H_
