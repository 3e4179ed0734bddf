// Kernelize: from a tensor graph to kernels over buffers. Decides which values are stored
// (materialization.h), makes a kernel of the expression of each, finds equal kernels, and orders
// writes behind the reads of what they overwrite. A graph that already holds kernels is extended:
// what they wrote is loaded. Tests: passes/kernelize/test.
#ifndef TG_PASSES_KERNELIZE_KERNELIZE_H_
#define TG_PASSES_KERNELIZE_KERNELIZE_H_

#include "passes/pass.h"

namespace tg {

extern const Pass kKernelizePass;

}  // namespace tg

#endif  // TG_PASSES_KERNELIZE_KERNELIZE_H_
