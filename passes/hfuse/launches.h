// The launches of a graph's kernels, in levels: none waits for another of its level.
#ifndef TG_PASSES_HFUSE_LAUNCHES_H_
#define TG_PASSES_HFUSE_LAUNCHES_H_

#include <cstddef>
#include <vector>

#include "ir/module.h"
#include "ir/uop.h"
#include "ir/walk.h"

namespace tg {

class Launches {
 public:
  explicit Launches(const Graph& graph);

  // The graph's nodes, lower levels first, of each level the kernels first: what a node follows
  // stands before it, and so does what any kernel of its level follows. Empty where the graph's
  // nodes follow each other in a circle.
  const std::vector<const UOp*>& order() const { return order_; }
  // How many kernels and copies follow on each other up to here, this one included.
  size_t LevelOf(const UOp* u) const { return level_.Get(u); }

 private:
  std::vector<const UOp*> order_;
  NodeMap<size_t> level_;
};

}  // namespace tg

#endif  // TG_PASSES_HFUSE_LAUNCHES_H_
