// Rewrites a graph node by node, sources first.
#ifndef TG_PASSES_KERNELIZE_REWRITE_GRAPH_H_
#define TG_PASSES_KERNELIZE_REWRITE_GRAPH_H_

#include "ir/module.h"
#include "ir/walk.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"

namespace tg::kernelize {

// `order`: the nodes that the root reaches, sources first. `rewritten(u)` is asked once about each
// node, whose sources are rewritten, and returns what replaces it, or null. Nodes that replace one
// of `fused` (prepare.h) are added to it.
inline void RewriteGraph(Body& body, NodeSet& fused, UOpSpan order,
                         llvm::function_ref<const UOp*(const UOp*)> rewritten) {
  NodeMap<const UOp*> map;
  bool any = false;
  llvm::SmallVector<const UOp*, 8> srcs;
  for (const UOp* u : order) {
    srcs.clear();
    for (const UOp* s : u->srcs()) srcs.push_back(map.Get(s));
    const UOp* same = body.context->Rebuild(u, *body.context, {srcs.data(), srcs.size()});
    const UOp* other = rewritten(same);
    map[u] = other ? other : same;
    if (fused.Contains(u)) fused.Insert(map[u]);
    body.CarryOver(u, map[u]);
    any |= other != nullptr;
  }
  if (any) body.root = map.Get(body.root);
}

}  // namespace tg::kernelize

#endif  // TG_PASSES_KERNELIZE_REWRITE_GRAPH_H_
