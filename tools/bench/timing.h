// Times of a contestant, taken by turns with others.
#ifndef TG_TOOLS_BENCH_TIMING_H_
#define TG_TOOLS_BENCH_TIMING_H_

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace tg::bench {

// The value below which a share of the numbers lies, interpolated. 0 for no numbers.
double Quantile(std::vector<double> numbers, double share);

struct Timing {
  int64_t batch = 1;            // runs that are enqueued together, with one wait
  std::vector<double> seconds;  // of one run, by turn

  double median() const { return Quantile(seconds, 0.5); }
  double least() const { return Quantile(seconds, 0); }
  // Half the distance between the quartiles, as a share of the median.
  double spread() const {
    return (Quantile(seconds, 0.75) - Quantile(seconds, 0.25)) / 2 / median();
  }
};

// What is timed: tg or a peer, with one row's operands.
struct Contestant {
  std::string name;
  // Runs `times` times in a row, and returns the seconds of one.
  std::function<absl::StatusOr<double>(int64_t times)> run;
};

struct TimingOptions {
  double batch_seconds = 0.1;  // a batch is at most this long, if it has several runs
  int64_t max_batch = 50;
  int64_t min_turns = 10, max_turns = 200;
  double min_seconds = 0.5;  // more turns until the first contestant has run for this time
  double max_seconds = 60;   // no more turns after this time, once there are three
  double pause_seconds = 0;  // before each turn: threads of a peer may spin for a while
};

// The times of each contestant. They take turns, in the given order and in the reverse one
// alternately.
absl::StatusOr<std::vector<Timing>> TakeTurns(std::span<const Contestant> contestants,
                                              const TimingOptions& options);

// The median of a turn's quotients, `a` over `b`.
double RatioByTurns(const Timing& a, const Timing& b);

}  // namespace tg::bench

#endif  // TG_TOOLS_BENCH_TIMING_H_
