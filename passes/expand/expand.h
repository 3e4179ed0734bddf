// Expand: unrolled axes become the lanes of vectors. What varies over unrolled axes gets one lane
// for each combination of them, row-major by ascending axis number, its own lanes innermost. Tests:
// passes/expand/test.
#ifndef TG_PASSES_EXPAND_EXPAND_H_
#define TG_PASSES_EXPAND_EXPAND_H_

#include "absl/status/status.h"
#include "passes/pass.h"

namespace tg {

extern const Pass kExpandPass;

// Brings one kernel from Stage::kLowered to Stage::kExpanded.
absl::Status ExpandKernel(Kernel& kernel);

}  // namespace tg

#endif  // TG_PASSES_EXPAND_EXPAND_H_
