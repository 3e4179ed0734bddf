// Nest: a kernel's graph with its loops found, each node in the loop that it is to run in.
//
// Idea: a node runs inside every range that it depends on and that no `end` on the way has closed.
// Those sets lie on paths of a tree of loops, or the kernel is refused. From there a node without
// an effect is hoisted outward as far as what it depends on allows.
//
// Invariants: a node's sources sit in its own block or in one that holds it. Positions are those of
// the post-order from the sink, so everything here follows from structure alone.
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

namespace tg::linearize {

struct Loop {
  const UOp* range = nullptr;  // null for loop 0, the kernel itself
  int parent = -1;
  int depth = 0;
  bool runs = true;                // at least once, whatever the variables
  llvm::SmallVector<int, 1> ends;  // positions of the ends that close it
};

struct Nest {
  std::vector<const UOp*> nodes;  // by position, sources first, the sink last
  std::vector<int> position;      // by id
  std::vector<Loop> loops;        // parents first
  std::vector<int> block;         // by position: the loop whose body the node is part of
  // By position: for a range, its loop; for an end, the outermost loop that it closes; else -1.
  // Both have the loop around that one as their block.
  std::vector<int> opens;

  // The positions of all nodes' sources, one node after the other, and where each node's begin.
  std::vector<int> source_positions;
  std::vector<uint32_t> first_source;

  int at(const UOp* u) const { return position[u->id]; }
  std::span<const int> sources(size_t p) const {
    return {source_positions.data() + first_source[p], nodes[p]->num_srcs};
  }
  // The innermost loop that holds both.
  int Common(int a, int b) const;
};

// `shuffle` moves what may be hoisted a random way out instead of all the way.
absl::StatusOr<Nest> FindLoops(const Kernel& kernel, std::mt19937_64* shuffle);

}  // namespace tg::linearize

#endif  // TG_PASSES_LINEARIZE_NEST_H_
