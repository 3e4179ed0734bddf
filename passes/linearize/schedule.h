// Schedule: the order of the nodes in each block, from what has to precede what.
#ifndef TG_PASSES_LINEARIZE_SCHEDULE_H_
#define TG_PASSES_LINEARIZE_SCHEDULE_H_

#include <random>
#include <vector>

#include "absl/status/statusor.h"
#include "passes/linearize/memory_order.h"
#include "passes/linearize/nest.h"

namespace tg::linearize {

// A step of the kernel: a node, or the end of a loop.
struct Step {
  int position = -1;  // of the node
  int closes = -1;    // of the loop, where position is -1
};

// Blocks are lists of nodes and of loops, each loop one item. An item follows what it needs, depth
// first from the effects; of its operands the one that needs the most registers comes first (Sethi
// and Ullman, "The generation of optimal code for arithmetic expressions", 1970). So a value is
// computed shortly before its first use. Definitions lead. With `shuffle`: any order, at random.
// Linear in nodes and edges. Fails where loops wait for each other.
absl::StatusOr<std::vector<Step>> Schedule(const Nest& nest, const ExtraOrder& extra,
                                           std::mt19937_64* shuffle);

}  // namespace tg::linearize

#endif  // TG_PASSES_LINEARIZE_SCHEDULE_H_
