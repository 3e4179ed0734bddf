// --check: interprets the module before and after each pass on random data, and compares the
// results.
#ifndef TG_TOOLS_DRIVER_CHECK_PASSES_H_
#define TG_TOOLS_DRIVER_CHECK_PASSES_H_

#include <cstdint>
#include <memory>

#include "passes/pass_manager.h"

namespace tg::driver {

// Ends the run with an error if a pass changes the values that the module computes. All passes are
// compared with the values before the first pass, whose error bounds are the tightest. `seed`
// determines two sets of data; see MakeCases. The values of an output that a pass adds are compared
// from that pass on. A module without anything to interpret, or that
// cannot be interpreted, is an error before the first pass.
std::unique_ptr<passes::PassObserver> CheckPasses(uint64_t seed);

}  // namespace tg::driver

#endif  // TG_TOOLS_DRIVER_CHECK_PASSES_H_
