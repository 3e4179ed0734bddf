// Writes `staged` ops into a kernel's body, for the values that the heuristics chose to stage.
#ifndef TG_PASSES_SCHEDULE_STAGED_VALUES_H_
#define TG_PASSES_SCHEDULE_STAGED_VALUES_H_

#include "ir/module.h"
#include "passes/schedule/packing.h"

namespace tg::schedule {

// Stages the load that `packed` describes. The copy consists of blocks; each has the terms of
// `packed.lanes` sums, with the sums innermost. `packed.load` is a node of `clone`, a clone of
// `kernel`'s body with the shapes `shapes`. Returns false, and leaves the body alone, if the load
// has no axis of sums.
bool StageRows(Kernel& kernel, const Body& clone, const PackedRows& packed, ShapeMap& shapes);

}  // namespace tg::schedule

#endif  // TG_PASSES_SCHEDULE_STAGED_VALUES_H_
