// What the heuristics chose to keep, written into the kernel: a `staged` around each value in the
// body, and the opts that say how these are made. packing.h and apart.h choose.
#ifndef TG_PASSES_OPTIMIZE_STAGE_H_
#define TG_PASSES_OPTIMIZE_STAGE_H_

#include <string>
#include <vector>

#include "ir/module.h"
#include "passes/optimize/packing.h"

namespace tg {

// What is put around the tuner's choices.
struct StagedValues {
  std::vector<const UOp*> rows;  // packed loads whose terms lie in rows, one axis of theirs
  std::vector<const UOp*> sums;
};
// Puts a `staged` around the tuner's sums and packed loads, or around reshapes of these; they are
// nodes of a clone of `kernel`'s body, `clone`, whose shapes are `shapes`.
StagedValues StageChosen(Kernel& kernel, const Body& clone, const Tuner& t, ShapeMap& shapes);
// Adds the opts with which these are copied in squares. `schedule`: of the kernel with them.
void FillPackedSquares(const std::vector<const UOp*>& staged, Kernel& kernel, Schedule& schedule,
                       const Target& target);

// Gives sums that are staged the loops from `axis` on for themselves, as they need no axes of their
// own; false: they do.
bool KeepApart(const std::vector<const UOp*>& sums, const std::string& axis, Kernel& kernel,
               Schedule& schedule, const Target& target);

// Keeps what is loaded in blocks of so many sums' terms, the block's sums innermost; false: it has
// no axis of them, and the body stays as it is. The load is one of the clone, as above.
bool StageRows(Kernel& kernel, const Body& clone, const PackedRows& packed, ShapeMap& shapes);

}  // namespace tg

#endif  // TG_PASSES_OPTIMIZE_STAGE_H_
