// Kernelize: turns a tensor graph into kernels over buffers. It decides which values are stored
// (materialization.h), makes a kernel from the expression of each stored value, merges equal
// kernels, and makes each in-place write wait for the readers of the old contents. A graph that
// already contains kernel calls is extended; new kernels load their results. Tests:
// passes/kernelize/test.
#ifndef TG_PASSES_KERNELIZE_KERNELIZE_H_
#define TG_PASSES_KERNELIZE_KERNELIZE_H_

#include "passes/pass.h"

namespace tg::kernelize {

extern const passes::Pass kKernelizePass;

}  // namespace tg::kernelize

#endif  // TG_PASSES_KERNELIZE_KERNELIZE_H_
