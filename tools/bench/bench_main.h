// The command line of tg-bench.
#ifndef TG_TOOLS_BENCH_BENCH_MAIN_H_
#define TG_TOOLS_BENCH_BENCH_MAIN_H_

namespace tg::bench {

// Returns the exit code: 0, 1 if a row failed or something could not be opened or written, 2 for
// a wrong command line.
int BenchMain(int argc, const char* const* argv);

}  // namespace tg::bench

#endif  // TG_TOOLS_BENCH_BENCH_MAIN_H_
