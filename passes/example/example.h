// example: a pass to copy from. docs/writing-a-pass.md walks through it.
#ifndef TG_PASSES_EXAMPLE_EXAMPLE_H_
#define TG_PASSES_EXAMPLE_EXAMPLE_H_

#include "passes/pass.h"

namespace tg::example {

// Turns `mul x, 2` into `add x, x`, in graphs and in kernels of every stage but linear. The values
// are the same bit by bit: doubling is exact in floating point, and wraps the same for integers.
extern const passes::Pass kExamplePass;

}  // namespace tg::example

#endif  // TG_PASSES_EXAMPLE_EXAMPLE_H_
