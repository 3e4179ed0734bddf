// Half: stores weights and activations as f16. Kernels load halves and compute in f32, sums
// included, so that a value is rounded once, where it is stored.
//
// It works on kernels at stage kernel, behind kernelize, which decides what is stored at all. What
// becomes f16: temporaries of f32 between kernels; values that @init computes for the other graphs;
// params of f32, of which @init makes a copy. Inputs, outputs and states keep their types, and so
// do statistics (a reduction that makes much less of what it reads, such as a mean), small buffers,
// and values that @init uses for itself.
#ifndef TG_PASSES_HALF_HALF_H_
#define TG_PASSES_HALF_HALF_H_

#include "passes/pass.h"

namespace tg {

extern const Pass kHalfPass;

}  // namespace tg

#endif  // TG_PASSES_HALF_HALF_H_
