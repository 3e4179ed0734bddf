// What the sources do not say about order: a load of a version of a memory comes before every store
// that makes a later version.
//
// Tokens order a load behind the stores whose effect it sees. Nothing in the graph holds it before
// the next store to that memory, so an edge load -> store is added for each pair where the load
// does not depend on the store and the two may touch the same elements. Where work-items share the
// memory and the store waits at a barrier that the load does not, the load has to precede that
// barrier: another work-item may be the one that stores. Asynchronous copies count as stores to
// where they write and loads from where they read; batches stay in the order in which they stand.
#ifndef TG_PASSES_LINEARIZE_MEMORY_ORDER_H_
#define TG_PASSES_LINEARIZE_MEMORY_ORDER_H_

#include <vector>

#include "passes/linearize/nest.h"

namespace tg::linearize {

// before -> after, by position. Numbers from nest.nodes.size() on stand for joins: nothing happens
// there; they keep n loads before m stores with n + m edges. join_blocks[i] is the block of join i.
struct ExtraOrder {
  std::vector<std::pair<int, int>> edges;
  std::vector<int> join_blocks;
};
ExtraOrder OrderMemory(const Nest& nest);

}  // namespace tg::linearize

#endif  // TG_PASSES_LINEARIZE_MEMORY_ORDER_H_
