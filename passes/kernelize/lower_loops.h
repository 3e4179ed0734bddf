// Makes a `repeat` of each `loop`: carried values become pairs of buffers, and the body a graph
// that reads the first one of each pair and writes the second one.
#ifndef TG_PASSES_KERNELIZE_LOWER_LOOPS_H_
#define TG_PASSES_KERNELIZE_LOWER_LOOPS_H_

#include "absl/status/status.h"
#include "ir/module.h"

namespace tg::kernelize {

// Rewrites all graphs, and removes the graphs that only loops ran. A value that no iteration
// changes has one buffer. Unimplemented if a trip count depends on data or has no bound, or if the
// module is for several devices.
absl::Status LowerLoops(Module& module);

}  // namespace tg::kernelize

#endif  // TG_PASSES_KERNELIZE_LOWER_LOOPS_H_
