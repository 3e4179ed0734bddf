// The process in which a search compiles and runs schedules of one kernel.
#ifndef TG_RUNTIME_SEARCH_WORKER_H_
#define TG_RUNTIME_SEARCH_WORKER_H_

#include <span>

#include "passes/pass.h"

namespace tg::search {

// The only argument of a worker. A program that names itself as a worker (SearchOptions::worker)
// calls RunWorker first of all if it gets this argument.
inline constexpr char kWorkerFlag[] = "--search-worker";

// Reads lines (protocol.h) from standard input, and answers each on standard output, until the end
// of input. `embedder`: passes that a pipeline may name besides tg's. Returns the exit code.
int RunWorker(std::span<const passes::Pass* const> embedder);

}  // namespace tg::search

#endif  // TG_RUNTIME_SEARCH_WORKER_H_
