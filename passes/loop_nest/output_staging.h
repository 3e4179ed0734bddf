// Staged values that are kept in what the kernel stores.
#ifndef TG_PASSES_LOOP_NEST_OUTPUT_STAGING_H_
#define TG_PASSES_LOOP_NEST_OUTPUT_STAGING_H_

#include <vector>

#include "passes/loop_nest/loop_nest.h"

namespace tg {

// By base axis: if it is one of a staged value that the output may hold until the results replace
// it, the stored axes along which that value has elements; else 0. Such a value has the type of the
// results; each result reads the element at its own place; all other readers are reduces that are
// invariant along these axes. `nest`: with `base` and `varies`.
std::vector<LoopSet> FindOutputStaging(const Kernel& kernel, const LoopNest& nest);

}  // namespace tg

#endif  // TG_PASSES_LOOP_NEST_OUTPUT_STAGING_H_
