// Writes the staged values that the heuristics chose into the kernel: a `staged` op around each
// value in the body.
#ifndef TG_PASSES_SCHEDULE_STAGED_VALUES_H_
#define TG_PASSES_SCHEDULE_STAGED_VALUES_H_

#include "ir/module.h"
#include "passes/schedule/packing.h"

namespace tg {

// Stages a load in blocks of the terms of `packed.lanes` sums, with the sums of a block innermost.
// Returns false, and leaves the body alone, if the load has no axis of sums. It is a node of
// `clone`, a clone of `kernel`'s body with the shapes `shapes`.
bool StageRows(Kernel& kernel, const Body& clone, const PackedRows& packed, ShapeMap& shapes);

}  // namespace tg

#endif  // TG_PASSES_SCHEDULE_STAGED_VALUES_H_
