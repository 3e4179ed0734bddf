// Half: stores weights and activations as f16. Kernels load halves and compute in f32, sums
// included, so that a value is rounded once, where it is stored.
//
// It runs after kernelize, which decides which values are stored, on kernels at stage kernel.
// Stored as f16 are f32 temporaries between kernels, f32 states that only @init writes, and f32
// params, of which @init makes a copy. Inputs, outputs and other states keep their types. So do
// statistics (results of a reduction that are much smaller than its input, such as a mean), small
// buffers, buffers that @init reads, and buffers that only @init uses.
#ifndef TG_PASSES_HALF_HALF_H_
#define TG_PASSES_HALF_HALF_H_

#include "passes/pass.h"

namespace tg::half {

extern const passes::Pass kHalfPass;

}  // namespace tg::half

#endif  // TG_PASSES_HALF_HALF_H_
