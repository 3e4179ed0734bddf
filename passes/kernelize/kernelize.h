// Kernelize: turns a tensor graph into kernels over buffers. It decides which values are stored
// (materialization.h), makes a kernel from the expression of each, merges equal kernels, and orders
// each write after the reads of the contents that it overwrites. A graph that already has kernels
// is extended: their results are loaded. Tests: passes/kernelize/test.
#ifndef TG_PASSES_KERNELIZE_KERNELIZE_H_
#define TG_PASSES_KERNELIZE_KERNELIZE_H_

#include "passes/pass.h"

namespace tg {

extern const Pass kKernelizePass;

}  // namespace tg

#endif  // TG_PASSES_KERNELIZE_KERNELIZE_H_
