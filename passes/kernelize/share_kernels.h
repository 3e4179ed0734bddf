// Merges kernels that differ only in the offsets at which they read and write into one kernel with
// variables for the offsets. Such kernels come from the steps of an unrolled recurrence, or from
// the pieces of one buffer.
#ifndef TG_PASSES_KERNELIZE_SHARE_KERNELS_H_
#define TG_PASSES_KERNELIZE_SHARE_KERNELS_H_

#include <cstddef>

#include "ir/module.h"
#include "passes/pass.h"

namespace tg::kernelize {

// Merges such kernels among the module's kernels from index `first` on. The graphs that call them
// then bind the variables.
void ShareKernels(Module& module, size_t first, passes::PassContext& context);

}  // namespace tg::kernelize

#endif  // TG_PASSES_KERNELIZE_SHARE_KERNELS_H_
