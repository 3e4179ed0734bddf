// Stores the weights of products with a symbolic number of rows, and of products that a loop
// repeats, as a CPU's vectors read them.
#ifndef TG_PASSES_KERNELIZE_LANE_ROWS_H_
#define TG_PASSES_KERNELIZE_LANE_ROWS_H_

#include "ir/module.h"
#include "ir/shape.h"
#include "ir/walk.h"
#include "passes/target.h"

namespace tg::kernelize {

// In a sum of products, or of dot4, a factor that no input reaches has the lanes of vectors if the
// other one has a symbolic number of rows. A work-group may have few of these rows, so that a copy
// of the factor that it packs is used few times. The factor is stored once more instead, with the
// axis of the lanes innermost, and with an odd number of cache lines from one row to the next, so
// that rows which are read together do not evict each other. Such a copy is moved to @init
// (hoist.h), and read in place. Updates `fused` (prepare.h).
//
// A factor that is decoded from params which must not be stored in another form stays in the kernel
// of a product with several rows: that decodes each element once for all rows, in registers or in a
// packed copy, and a stored one would be written and read in addition.
//
// `is_repeated`: the graph is a loop's body. Then so are all its products, since each iteration
// would make the copy again; where the lanes are innermost already, nothing is stored.
void LayLanesInRows(const Module& module, Body& body, ShapeMap& shapes,
                    const passes::Target& target, bool is_repeated, NodeSet& fused, UOpSpan order);

}  // namespace tg::kernelize

#endif  // TG_PASSES_KERNELIZE_LANE_ROWS_H_
