// Keeps the order of a graph's writes while its values are rewritten.
//
// All ordering is source edges. A write may be ordered after another one only by its value, which
// reads what the other wrote. A rule that drops the read (x * 0, a branch that is never taken)
// drops the order too, or the other write as a whole.
#ifndef TG_PASSES_SIMPLIFY_WRITE_ORDER_H_
#define TG_PASSES_SIMPLIFY_WRITE_ORDER_H_

#include <vector>

#include "ir/module.h"
#include "ir/walk.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace tg {

class WriteOrder {
 public:
  // Takes the order of the graph as it is. The graph's nodes must live until Restore.
  explicit WriteOrder(const Body& graph);

  // Restores the order in the rewritten graph, in which `final_of` replaces a node. A write that no
  // longer depends on an earlier write to its buffer gets that as a further source, and the sink
  // gets the writes that it no longer reaches.
  void Restore(Body& graph, llvm::function_ref<const UOp*(const UOp*)> final_of) const;

 private:
  struct Write {
    const UOp* assign;
    const UOp* buffer;
  };
  using Edges = std::vector<std::vector<size_t>>;

  // For each write: the earlier writes on which it must depend and does not. now[i] replaces
  // writes_[i].
  Edges Missing(const Body& graph, const std::vector<const UOp*>& now) const;

  const UOp* root_;
  std::vector<const UOp*> order_;  // empty if nothing is written
  std::vector<Write> writes_;      // sources first
};

}  // namespace tg

#endif  // TG_PASSES_SIMPLIFY_WRITE_ORDER_H_
