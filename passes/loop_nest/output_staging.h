// Finds staged values that can be kept in the memory of the kernel's output.
#ifndef TG_PASSES_LOOP_NEST_OUTPUT_STAGING_H_
#define TG_PASSES_LOOP_NEST_OUTPUT_STAGING_H_

#include <vector>

#include "passes/loop_nest/loop_nest.h"

namespace tg::loop_nest {

// By base axis. For an axis of a staged value that the output may hold until the results replace
// it: the stored axes along which the value has elements. For other axes: 0. Such a value has the
// type of the results, each result reads the element at its own index, and all other readers are
// reduces that are invariant along these axes. `nest` must have `base` and `varies`.
std::vector<analysis::LoopSet> FindOutputStaging(const Kernel& kernel, const LoopNest& nest);

}  // namespace tg::loop_nest

#endif  // TG_PASSES_LOOP_NEST_OUTPUT_STAGING_H_
