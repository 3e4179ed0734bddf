// tg-opt as a function, for tg's own tool and for whoever embeds tg with passes of their own.
#ifndef TG_TOOLS_DRIVER_OPT_MAIN_H_
#define TG_TOOLS_DRIVER_OPT_MAIN_H_

#include <span>

#include "passes/pass.h"

namespace tg {

// What tg-opt returns to the shell.
enum ExitCode : int {
  kExitOk = 0,
  kExitBadInput = 1,  // the input is wrong, a pass failed, or the output could not be written
  kExitUsage = 2,     // the command line is wrong
};

// Reads a module, runs a pipeline on it, writes it. `embedder` are passes besides tg's own.
int OptMain(int argc, const char* const* argv, std::span<const Pass* const> embedder = {});

}  // namespace tg

#endif  // TG_TOOLS_DRIVER_OPT_MAIN_H_
