// The pass `devectorize`: legalizes vectors of any width and type for the target.
// docs/passes/devectorize.md; tests in passes/devectorize/test.
#ifndef TG_PASSES_DEVECTORIZE_DEVECTORIZE_H_
#define TG_PASSES_DEVECTORIZE_DEVECTORIZE_H_

#include "passes/pass.h"

namespace tg::devectorize {

// Transforms kernels at stage expanded and leaves them at that stage.
extern const passes::Pass kDevectorizePass;

}  // namespace tg::devectorize

#endif  // TG_PASSES_DEVECTORIZE_DEVECTORIZE_H_
