// tg-run as a function, for tg's own tool and for whoever embeds tg with passes of their own.
#ifndef TG_TOOLS_RUN_RUN_MAIN_H_
#define TG_TOOLS_RUN_RUN_MAIN_H_

#include <span>

#include "passes/pass.h"

namespace tg {

// Reads a module, compiles it, runs it, shows and checks results. Returns what tg-run returns to
// the shell: 0; 1 where the input is wrong, something failed or a check did not hold; 2 where the
// command line is wrong. `embedder` are passes besides tg's own.
int RunMain(int argc, const char* const* argv, std::span<const Pass* const> embedder = {});

}  // namespace tg

#endif  // TG_TOOLS_RUN_RUN_MAIN_H_
