#include "tools/bench/timing.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <thread>
#include <utility>

#include "base/status.h"
#include "runtime/base/spans.h"

namespace tg::bench {
namespace {

double Seconds() { return static_cast<double>(runtime::HostNanos()) * 1e-9; }

// A turn of runs up to this long begins with one that is not timed: it fetches what the other
// contestants have displaced from the caches, and wakes threads.
constexpr double kWarmSeconds = 0.05;

}  // namespace

double Quantile(std::vector<double> numbers, double share) {
  if (numbers.empty()) return 0;
  std::sort(numbers.begin(), numbers.end());
  const double at = share * static_cast<double>(numbers.size() - 1);
  const auto below = static_cast<size_t>(at);
  const size_t above = std::min(below + 1, numbers.size() - 1);
  return std::lerp(numbers[below], numbers[above], at - std::floor(at));
}

absl::StatusOr<std::vector<Timing>> TakeTurns(std::span<const Contestant> contestants,
                                              const TimingOptions& options) {
  std::vector<Timing> timings(contestants.size());
  for (size_t i = 0; i < contestants.size(); ++i) {
    TG_RETURN_IF_ERROR(contestants[i].run(1).status());
    TG_ASSIGN_OR_RETURN(const double once, contestants[i].run(1));
    const double fitting = options.batch_seconds / std::max(once, 1e-9);
    timings[i].batch =
        std::clamp(static_cast<int64_t>(std::min(fitting, 1e9)), int64_t{1}, options.max_batch);
  }
  const double start = Seconds();
  double of_first = 0;
  for (int64_t turn = 0; turn < options.max_turns; ++turn) {
    const bool is_late = turn >= 3 && Seconds() - start > options.max_seconds;
    if (is_late || (turn >= options.min_turns && of_first >= options.min_seconds)) break;
    for (size_t k = 0; k < contestants.size(); ++k) {
      const size_t i = turn % 2 == 0 ? k : contestants.size() - 1 - k;
      std::this_thread::sleep_for(std::chrono::duration<double>(options.pause_seconds));
      if (timings[i].seconds.empty() || timings[i].least() < kWarmSeconds) {
        TG_RETURN_IF_ERROR(contestants[i].run(1).status());
      }
      TG_ASSIGN_OR_RETURN(const double seconds, contestants[i].run(timings[i].batch));
      timings[i].seconds.push_back(seconds);
      if (i == 0) of_first += seconds * static_cast<double>(timings[i].batch);
    }
  }
  return timings;
}

double RatioByTurns(const Timing& a, const Timing& b) {
  std::vector<double> ratios;
  for (size_t i = 0; i < std::min(a.seconds.size(), b.seconds.size()); ++i) {
    ratios.push_back(a.seconds[i] / b.seconds[i]);
  }
  return Quantile(std::move(ratios), 0.5);
}

}  // namespace tg::bench
