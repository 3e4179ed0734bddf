// Copies expressions from one context to another.
#ifndef TG_PASSES_KERNELIZE_COPY_NODES_H_
#define TG_PASSES_KERNELIZE_COPY_NODES_H_

#include <vector>

#include "ir/context.h"
#include "ir/walk.h"

namespace tg::kernelize {

// Copies `root` and its sources from context `from` to context `to`, and returns the copy. `map`
// has the copies of nodes that exist already, and receives the others.
inline const UOp* CopyNodes(const UOp* root, const Context& from, Context& to,
                            NodeMap<const UOp*>& map) {
  std::vector<const UOp*> srcs;
  for (const UOp* u : PostOrder(root)) {
    if (map.Get(u)) continue;
    srcs.clear();
    for (const UOp* s : u->srcs()) srcs.push_back(map.Get(s));
    map[u] = to.Rebuild(u, from, srcs);
  }
  return map.Get(root);
}

}  // namespace tg::kernelize

#endif  // TG_PASSES_KERNELIZE_COPY_NODES_H_
