// Merges kernels that differ only in the offsets of their reads and writes along some axes into one
// kernel with the offsets as variables: steps of an unrolled recurrence, pieces of one buffer.
#ifndef TG_PASSES_KERNELIZE_SHARE_KERNELS_H_
#define TG_PASSES_KERNELIZE_SHARE_KERNELS_H_

#include <cstddef>

#include "ir/module.h"
#include "passes/pass.h"

namespace tg {

// Merges kernels of the module from index `first` on. The graphs that call them bind the variables.
void ShareKernels(Module& module, size_t first, PassContext& context);

}  // namespace tg

#endif  // TG_PASSES_KERNELIZE_SHARE_KERNELS_H_
