// The walk of most steps of devectorize: sources first, with one new node for each old one.
#ifndef TG_PASSES_LEGALIZE_FORWARD_H_
#define TG_PASSES_LEGALIZE_FORWARD_H_

#include "ir/builder.h"
#include "ir/module.h"
#include "ir/walk.h"
#include "llvm/ADT/SmallVector.h"

namespace tg::legalize {

using Nodes = llvm::SmallVector<const UOp*, 16>;
inline UOpSpan Span(const Nodes& n) { return {n.data(), n.size()}; }

// `u` with these sources; `u` itself if they are unchanged.
inline const UOp* WithSources(Builder& b, const UOp* u, UOpSpan srcs) {
  return HasSources(u, srcs) ? u : b.context().Make(u->op, u->dtype, srcs, u->attr);
}

// Calls f(old node, its new sources) for every node of `order`, which has all nodes that the root
// reaches, sources first. The result replaces the node and inherits its name and source location.
template <typename F>
void ForwardRewrite(Body& body, UOpSpan order, F&& f) {
  NodeMap<const UOp*> map;
  map.Reserve(body.context->num_nodes());
  Nodes srcs;
  for (const UOp* u : order) {
    srcs.clear();
    for (const UOp* s : u->srcs()) srcs.push_back(map.Get(s));
    const UOp* v = f(u, Span(srcs));
    body.CarryOver(u, v);
    map[u] = v;
  }
  body.root = map.Get(body.root);
}
template <typename F>
void ForwardRewrite(Body& body, F&& f) {
  ForwardRewrite(body, body.Order(), f);
}

}  // namespace tg::legalize

#endif  // TG_PASSES_LEGALIZE_FORWARD_H_
