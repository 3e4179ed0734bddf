// --check: interprets the module before and after each pass on random data, and compares.
#ifndef TG_TOOLS_DRIVER_CHECK_PASSES_H_
#define TG_TOOLS_DRIVER_CHECK_PASSES_H_

#include <cstdint>
#include <memory>

#include "passes/pass_manager.h"

namespace tg {

// Ends the run with an error when a pass changes what the module computes. The values before the
// first pass are what all later ones are compared with: their rounding errors are known best. Two
// sets of data are made from `seed`; see MakeCases. A module in which there is nothing to
// interpret, or that cannot be interpreted, is an error before the first pass.
std::unique_ptr<PassObserver> CheckPasses(uint64_t seed);

}  // namespace tg

#endif  // TG_TOOLS_DRIVER_CHECK_PASSES_H_
