// Optimize: chooses a kernel's opts. A kernel that has opts keeps them: they are checked. Any other
// gets them from the heuristic for the kind of target. Nothing is applied here but to the header:
// `lower` does the work.
// Tests: passes/optimize/test.
#ifndef TG_PASSES_OPTIMIZE_OPTIMIZE_H_
#define TG_PASSES_OPTIMIZE_OPTIMIZE_H_

#include "passes/pass.h"

namespace tg {

extern const Pass kOptimizePass;

}  // namespace tg

#endif  // TG_PASSES_OPTIMIZE_OPTIMIZE_H_
