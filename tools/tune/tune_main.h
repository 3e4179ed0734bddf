// tg-tune: searches for the fastest schedules of a model's kernels (docs/search.md).
#ifndef TG_TOOLS_TUNE_TUNE_MAIN_H_
#define TG_TOOLS_TUNE_TUNE_MAIN_H_

#include <span>

#include "passes/pass.h"
#include "tools/tune/ranks.h"

namespace tg::tune {

// Returns the exit code of the process. `embedder`: passes that --pass may name besides tg's.
// `ranks`: the processes that search together; null: this one alone.
int TuneMain(int argc, const char* const* argv, std::span<const passes::Pass* const> embedder,
             Ranks* ranks = nullptr);

}  // namespace tg::tune

#endif  // TG_TOOLS_TUNE_TUNE_MAIN_H_
