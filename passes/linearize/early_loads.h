// Loads that are executed before a loop which may have no iterations.
#ifndef TG_PASSES_LINEARIZE_EARLY_LOADS_H_
#define TG_PASSES_LINEARIZE_EARLY_LOADS_H_

#include "absl/status/statusor.h"
#include "ir/module.h"
#include "passes/linearize/nest.h"

namespace tg::linearize {

// A load reads the contents of its memory before the loop of its users if that loop overwrites
// them. If the loop has no iterations, the address may be invalid: `load y[n - 1]` before
// `for i < n { store y[i] }`. Gives each load of `nest.early` the gate that the loop runs. Returns
// whether it changed the body; then its nest has to be found again. Fails if the trip count is
// known only inside of another loop that the load precedes.
absl::StatusOr<bool> GuardEarlyLoads(const Nest& nest, Body& body);

}  // namespace tg::linearize

#endif  // TG_PASSES_LINEARIZE_EARLY_LOADS_H_
