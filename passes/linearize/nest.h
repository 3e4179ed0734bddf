// Nest: the loop nest of a kernel's graph, with each node assigned to the loop that executes it.
//
// A node belongs inside every range that it depends on, unless an `end` between them closes the
// range. These sets of ranges must form paths of one tree of loops; otherwise the kernel is
// rejected. A node without effects is in the outermost block that its dependences allow, except
// that a value that depends on a load stays inside loops that may have no iterations, unless the
// load reads a scratch that was surely written. A load of
// memory that such a loop overwrites cannot stay; GuardEarlyLoads gives it a gate (early_loads.h).
//
// Invariants: a node's sources are in the same block or in an enclosing one. Positions are numbers
// in the post-order from the sink, so the result depends only on the structure.
#ifndef TG_PASSES_LINEARIZE_NEST_H_
#define TG_PASSES_LINEARIZE_NEST_H_

#include <random>
#include <span>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "ir/module.h"
#include "ir/walk.h"
#include "llvm/ADT/SmallVector.h"
#include "passes/analysis/bounds.h"

namespace tg::linearize {

struct Loop {
  const UOp* range = nullptr;  // null for loop 0, the kernel itself
  int parent = -1;
  int depth = 0;
  bool runs = true;                // the trip count is surely positive
  llvm::SmallVector<int, 1> ends;  // positions of the ends that close it
};

// A load that is executed before a loop of its users, which may have no iterations; its address may
// be invalid then.
struct EarlyLoad {
  int position;
  int loop;
};

struct Nest {
  std::vector<const UOp*> nodes;  // by position, sources first, the sink last
  std::vector<int> position;      // by id
  std::vector<Loop> loops;        // parents first
  std::vector<int> block;         // by position: the loop whose body the node is part of
  // By position: for a range, its loop; for an end, the outermost loop that it closes; else -1.
  // The block of both is the loop around that one.
  std::vector<int> opens;
  std::vector<EarlyLoad> early;  // an entry for each load and loop

  // The positions of the sources of all nodes, concatenated, and the start of each node's sources.
  std::vector<int> source_positions;
  std::vector<uint32_t> first_source;

  int at(const UOp* u) const { return position[u->id]; }
  std::span<const int> sources(size_t p) const {
    return {source_positions.data() + first_source[p], nodes[p]->num_srcs};
  }
  // The innermost loop that contains both loops.
  int Common(int a, int b) const;
};

// The loop nest of a kernel at stage expanded. Fails, naming the kernel, if its ranges do not nest
// or are not closed. `bounds`: of the kernel's values. With `shuffle`, nodes are hoisted out of a
// random number of loops.
absl::StatusOr<Nest> FindLoops(const Kernel& kernel, analysis::Bounds& bounds,
                               std::mt19937_64* shuffle);

}  // namespace tg::linearize

#endif  // TG_PASSES_LINEARIZE_NEST_H_
