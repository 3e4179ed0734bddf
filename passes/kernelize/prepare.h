// The graph as the planner wants it: results written by assigns, nothing that only means something
// to a front end, nothing of size 0.
#ifndef TG_PASSES_KERNELIZE_PREPARE_H_
#define TG_PASSES_KERNELIZE_PREPARE_H_

#include "absl/status/status.h"
#include "ir/module.h"
#include "ir/shape.h"

namespace tg {

// Rewrites `body.root`:
//  - `sink %v -> @y` becomes `assign(buffer @y, %v)`, and what else used %v reads the assign;
//  - detach, contiguous_backward and fuse give way to their sources, contiguous(contiguous(x)) to
//  one;
//  - a value without elements becomes a constant, a reduce over none its identity;
//  - buffer_view becomes a reshape and a shrink.
absl::Status PrepareGraph(const Module& module, Body& body);

// The buffer that an assign's target names, through movement ops.
const UOp* TargetBuffer(const UOp* target);

}  // namespace tg

#endif  // TG_PASSES_KERNELIZE_PREPARE_H_
