#include "passes/indices/predicates.h"

#include "passes/analysis/indexing.h"

namespace tg::indices {

std::vector<const UOp*> PartsOf(const UOp* condition) {
  std::vector<const UOp*> out, stack = {condition};
  while (!stack.empty()) {
    const UOp* p = stack.back();
    stack.pop_back();
    out.push_back(p);
    if (p->op == Op::kAnd) stack.insert(stack.end(), p->srcs().begin(), p->srcs().end());
  }
  return out;
}

const UOp* Without(Builder& b, const UOp* condition, llvm::function_ref<bool(const UOp*)> drop) {
  const UOp* rest = nullptr;
  bool dropped = false;
  for (const UOp* part : PartsOf(condition)) {
    if (part->op == Op::kAnd) continue;
    if (drop(part))
      dropped = true;
    else
      rest = analysis::Both(b, rest, part);
  }
  return dropped ? rest : condition;
}

}  // namespace tg::indices
