// tg-run as a function, for tg's tool and for embedders with additional passes.
#ifndef TG_TOOLS_RUN_RUN_MAIN_H_
#define TG_TOOLS_RUN_RUN_MAIN_H_

#include <span>

#include "passes/pass.h"

namespace tg::run {

// Reads, compiles and runs a module, and shows and checks its results. Returns the exit code of
// tg-run: 0; 1 if the input is invalid, a step failed or a check did not hold; 2 if the command
// line is invalid. `embedder`: additional passes.
int RunMain(int argc, const char* const* argv, std::span<const passes::Pass* const> embedder = {});

}  // namespace tg::run

#endif  // TG_TOOLS_RUN_RUN_MAIN_H_
