#include "passes/indices/rebuild.h"

#include "llvm/ADT/SmallVector.h"

namespace tg::indices {

const UOp* Rebuilt(Body& body, const UOp* u, NodeMap<const UOp*>& changed) {
  for (const UOp* x : PostOrder(u)) {
    if (changed.Get(x)) continue;
    llvm::SmallVector<const UOp*, 4> srcs;
    bool any = false;
    for (const UOp* s : x->srcs()) {
      const UOp* to = changed.Get(s);
      srcs.push_back(to ? to : s);
      any |= to != nullptr;
    }
    if (!any) continue;
    changed[x] = body.context->Rebuild(x, *body.context, {srcs.data(), srcs.size()});
    body.CarryOver(x, changed[x]);
  }
  const UOp* to = changed.Get(u);
  return to ? to : u;
}

}  // namespace tg::indices
