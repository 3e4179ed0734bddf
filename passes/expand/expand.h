// Expand: turns unrolled axes into lanes of vectors. A value that varies over unrolled axes gets
// one lane for each combination of their indices, row-major by ascending axis number, with the
// lanes that it already has innermost. Tests: passes/expand/test.
#ifndef TG_PASSES_EXPAND_EXPAND_H_
#define TG_PASSES_EXPAND_EXPAND_H_

#include "absl/status/status.h"
#include "passes/pass.h"

namespace tg::expand {

extern const passes::Pass kExpandPass;

// Brings one kernel from Stage::kLowered to Stage::kExpanded.
absl::Status ExpandKernel(Kernel& kernel);

}  // namespace tg::expand

#endif  // TG_PASSES_EXPAND_EXPAND_H_
