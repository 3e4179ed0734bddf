// The pass `devectorize`: from vectors of any width and any type to what the target has.
// docs/passes/devectorize.md; tests in passes/devectorize/test.
#ifndef TG_PASSES_DEVECTORIZE_DEVECTORIZE_H_
#define TG_PASSES_DEVECTORIZE_DEVECTORIZE_H_

#include "passes/pass.h"

namespace tg {

// Works on kernels at stage expanded, which they stay at.
extern const Pass kDevectorizePass;

}  // namespace tg

#endif  // TG_PASSES_DEVECTORIZE_DEVECTORIZE_H_
