// Anti-dependences (write after read), which the graph does not contain: a load of a version of a
// memory comes before every store that creates a later version.
//
// Tokens order a load after the stores whose effect it sees. The graph does not order it before the
// next store to that memory, so an edge load -> store is added for each pair in which the load does
// not depend on the store and the two may access the same elements. If work-items share the memory
// and the store waits at a barrier that the load does not wait at, the load has to precede that
// barrier, because another work-item may execute the store. It need not if the work-item itself
// also stores to the element that it loads, in the loop of that store and after the same barriers:
// a store of another work-item to that element would then be a race of two stores. An asynchronous
// copy counts as a store to its destination and a load of its source; batches of copies keep their
// order.
#ifndef TG_PASSES_LINEARIZE_MEMORY_ORDER_H_
#define TG_PASSES_LINEARIZE_MEMORY_ORDER_H_

#include <vector>

#include "passes/linearize/nest.h"

namespace tg::linearize {

// Edges before -> after, by position. Numbers from nest.nodes.size() on are joins, which execute
// nothing and order n loads before m stores with n + m edges. join_blocks[i]: the block of join i.
struct ExtraOrder {
  std::vector<std::pair<int, int>> edges;
  std::vector<int> join_blocks;
};
ExtraOrder OrderMemory(const Nest& nest);

}  // namespace tg::linearize

#endif  // TG_PASSES_LINEARIZE_MEMORY_ORDER_H_
