// Rebuilding expressions of a body with some nodes replaced.
#ifndef TG_PASSES_INDICES_REBUILD_H_
#define TG_PASSES_INDICES_REBUILD_H_

#include "ir/module.h"
#include "ir/walk.h"

namespace tg::indices {

// `u` with nodes replaced by their entries in `changed`, which receives each node that is rebuilt.
// Names and locations are carried over.
const UOp* Rebuilt(Body& body, const UOp* u, NodeMap<const UOp*>& changed);

}  // namespace tg::indices

#endif  // TG_PASSES_INDICES_REBUILD_H_
