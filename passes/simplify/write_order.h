// Keeps the order of a graph's writes while its values are rewritten.
//
// Only source edges order the writes of a graph. A write may be ordered after another one only
// because its value reads what the other wrote. A rule that drops the read (x * 0, a branch that is
// never taken) drops the order too, or even the earlier write itself.
#ifndef TG_PASSES_SIMPLIFY_WRITE_ORDER_H_
#define TG_PASSES_SIMPLIFY_WRITE_ORDER_H_

#include <vector>

#include "ir/module.h"
#include "ir/walk.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace tg::simplify {

class WriteOrder {
 public:
  // Records the order of the writes (`assign` nodes). The graph's nodes must live until Restore.
  explicit WriteOrder(const Body& graph);

  // Restores the order in the rewritten graph; final_of(u) is the replacement of node u of the old
  // graph, or null. A write that no longer depends on an earlier write to its buffer gets that as a
  // further source, and the sink gets the writes that it no longer reaches.
  void Restore(Body& graph, llvm::function_ref<const UOp*(const UOp*)> final_of) const;

 private:
  struct Write {
    const UOp* assign;
    const UOp* buffer;
  };
  using Edges = std::vector<std::vector<size_t>>;

  // For each write: the earlier writes to its buffer on which it must depend and does not. now[i]
  // is the replacement of writes_[i]; null if it is no longer an assign.
  Edges Missing(const Body& graph, const std::vector<const UOp*>& now) const;

  const UOp* root_;
  std::vector<const UOp*> order_;  // empty if nothing is written
  std::vector<Write> writes_;      // sources first
};

}  // namespace tg::simplify

#endif  // TG_PASSES_SIMPLIFY_WRITE_ORDER_H_
