// Normalizes a graph before planning: results are written by assigns, hints of front ends are
// removed, and no value without elements remains.
#ifndef TG_PASSES_KERNELIZE_PREPARE_H_
#define TG_PASSES_KERNELIZE_PREPARE_H_

#include "absl/status/status.h"
#include "ir/module.h"
#include "ir/shape.h"
#include "passes/target.h"

namespace tg::kernelize {

// Rewrites `body.root`:
//  - `sink %v -> @y` becomes `assign(buffer @y, %v)`, which the other users of %v read too;
//  - detach, contiguous_backward and fuse are replaced by their sources, and
//    contiguous(contiguous(x)) by one contiguous; the source of a fuse is added to `fused`;
//  - a value without elements becomes a constant, a reduce over no elements its identity;
//  - a reshape of a reshape, or a permute of a permute, becomes one, or none;
//  - a tensor of one constant is a scalar to elementwise ops (uniform.h);
//  - buffer_view becomes a reshape and a shrink, broadcast a reshape and an expand;
//  - a chain of copies between devices becomes one, or none (placement.h);
//  - a long reduce with few results becomes two, unless the module forbids reassociation or groups
//    of work-items keep a GPU busy.
absl::Status PrepareGraph(const Module& module, Body& body, ShapeMap& shapes,
                          const passes::Target& target, NodeSet& fused, RootOrder& order);

}  // namespace tg::kernelize

#endif  // TG_PASSES_KERNELIZE_PREPARE_H_
