// Turns reductions over neighbouring lanes into trees of the op on halves of the lanes: the first
// half of each group with the second, and so on. Where reassociation is off, into the sum from the
// left.
#ifndef TG_PASSES_DEVECTORIZE_HORIZONTAL_H_
#define TG_PASSES_DEVECTORIZE_HORIZONTAL_H_

#include "absl/status/status.h"
#include "ir/module.h"

namespace tg {

// An error where a reduce still runs over ranges: lower makes loops of those.
absl::Status ReduceLanes(Body& body, bool reassociate);

}  // namespace tg

#endif  // TG_PASSES_DEVECTORIZE_HORIZONTAL_H_
