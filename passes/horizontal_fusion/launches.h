// The launches of a graph's kernels, in levels: launches of one level are independent.
#ifndef TG_PASSES_HORIZONTAL_FUSION_LAUNCHES_H_
#define TG_PASSES_HORIZONTAL_FUSION_LAUNCHES_H_

#include <cstddef>
#include <vector>

#include "ir/module.h"
#include "ir/uop.h"
#include "ir/walk.h"

namespace tg {

class Launches {
 public:
  explicit Launches(const Graph& graph);

  // The graph's nodes by level, with the kernels of each level first. The predecessors of a node
  // precede it, and so do the predecessors of every kernel of its level. Empty if the dependences
  // are cyclic.
  const std::vector<const UOp*>& order() const { return order_; }
  // The length of the longest chain of kernels and copies that ends at `u`, including `u`.
  size_t LevelOf(const UOp* u) const { return level_.Get(u); }

 private:
  std::vector<const UOp*> order_;
  NodeMap<size_t> level_;
};

}  // namespace tg

#endif  // TG_PASSES_HORIZONTAL_FUSION_LAUNCHES_H_
