// tg-opt as a function, for tg's tool and for embedders with additional passes.
#ifndef TG_TOOLS_DRIVER_OPT_MAIN_H_
#define TG_TOOLS_DRIVER_OPT_MAIN_H_

#include <span>

#include "passes/pass.h"

namespace tg::driver {

// Exit codes of tg-opt.
enum ExitCode : int {
  kExitOk = 0,
  kExitBadInput = 1,  // invalid input, a failed pass, or an output that cannot be written
  kExitUsage = 2,     // an invalid command line
};

// Reads a module, runs a pipeline on it, and writes it. `embedder`: additional passes.
int OptMain(int argc, const char* const* argv, std::span<const passes::Pass* const> embedder = {});

}  // namespace tg::driver

#endif  // TG_TOOLS_DRIVER_OPT_MAIN_H_
