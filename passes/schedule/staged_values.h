// Writes the staged values that the heuristics chose into the kernel: a `staged` op around each
// value in the body, and the directives for it. The files `packing` and `fission` choose the
// values.
#ifndef TG_PASSES_SCHEDULE_STAGED_VALUES_H_
#define TG_PASSES_SCHEDULE_STAGED_VALUES_H_

#include <string>
#include <vector>

#include "ir/module.h"
#include "passes/schedule/packing.h"

namespace tg {

// The values that got a `staged` op.
struct StagedValues {
  std::vector<const UOp*> rows;  // packed loads whose terms are contiguous, merged into one axis
  std::vector<const UOp*> sums;
};
// Puts a `staged` op around the builder's sums and packed loads, or around reshapes of these. They
// are nodes of `clone`, a clone of `kernel`'s body with the shapes `shapes`.
StagedValues StageChosen(Kernel& kernel, const Body& clone, const ScheduleBuilder& t,
                         ShapeMap& shapes);
// Adds directives by which these are copied in squares that are transposed in registers.
// `schedule`: of the kernel with the staged values.
void FillPackedSquares(const std::vector<const UOp*>& staged, Kernel& kernel, Schedule& schedule,
                       const Target& target);

// Applies loop fission to staged sums, from `axis` on. Returns false if that is not legal: the sums
// need axes that the loops do not have.
bool ApplyFission(const std::vector<const UOp*>& sums, const std::string& axis, Kernel& kernel,
                  Schedule& schedule, const Target& target);

// Stages a load in blocks of the terms of `packed.lanes` sums, with the sums of a block innermost.
// Returns false, and leaves the body alone, if the load has no axis of sums. `clone`, `shapes`: as
// above.
bool StageRows(Kernel& kernel, const Body& clone, const PackedRows& packed, ShapeMap& shapes);

}  // namespace tg

#endif  // TG_PASSES_SCHEDULE_STAGED_VALUES_H_
