// Schedule: orders the nodes of each block under the dependences.
#ifndef TG_PASSES_LINEARIZE_INSTRUCTION_ORDER_H_
#define TG_PASSES_LINEARIZE_INSTRUCTION_ORDER_H_

#include <random>
#include <vector>

#include "absl/status/statusor.h"
#include "passes/linearize/memory_order.h"
#include "passes/linearize/nest.h"

namespace tg::linearize {

// A step of the kernel: a node, or the end of a loop.
struct Step {
  int position = -1;  // the node's position; -1: the end of a loop
  int closes = -1;    // the loop that ends, if position is -1
};

// The items of a block are its nodes and inner loops. Items are emitted after their dependences,
// depth first from the effects; the operand that needs the most registers comes first (Sethi and
// Ullman, "The generation of optimal code for arithmetic expressions", 1970). A value is therefore
// computed shortly before its first use. Definitions come first. With `shuffle`, the order is a
// random valid one. Linear in nodes and edges. Fails if loops depend on each other in a cycle.
absl::StatusOr<std::vector<Step>> Schedule(const Nest& nest, const ExtraOrder& extra,
                                           std::mt19937_64* shuffle);

}  // namespace tg::linearize

#endif  // TG_PASSES_LINEARIZE_INSTRUCTION_ORDER_H_
