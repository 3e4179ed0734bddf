// The rewrite PlaceStaged: each `stage` becomes scratch memory, the loops that fill it, and
// barriers where work-items share it.
#ifndef TG_PASSES_LOWER_PLACE_STAGED_H_
#define TG_PASSES_LOWER_PLACE_STAGED_H_

#include "absl/status/status.h"
#include "ir/module.h"
#include "passes/analysis/indexing.h"
#include "passes/target.h"

namespace tg::lower {

// Replaces every `stage` of a body without movement ops and without `reduce` over ranges.
//
// Private memory is in registers if all addresses are constant. It has `size` elements for each
// lane of the unrolled axes around the stage along which x varies, and is filled again in each
// iteration of the loops around it along which x varies:
//   s = store(after(mem, outer ranges)[element], x)
//   filled = after(mem, end(s, ranges))
// If x is a load of rows whose lanes have a stride in memory, `copy_transposed` stores it.
//
// Local memory is filled between two barriers. If local ids are among the stage's axes, each
// work-item computes its part, and work-items that differ in other ids have different parts.
// Otherwise the work-items of a group share the elements; they enumerate them in the order of their
// addresses in the source memory, so that neighbouring work-items read neighbouring vectors.
//
// Fails if the kernel's local memory exceeds the target's.
absl::Status PlaceStaged(Body& body, const passes::Target& target, analysis::SimplifyFn simplify);

}  // namespace tg::lower

#endif  // TG_PASSES_LOWER_PLACE_STAGED_H_
