#include "tools/calibrate/cache_steps.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace tg::calibrate {
namespace {

constexpr double kLeastStep = 1.0 / 6;
// A working set that is read at this share of a plateau's rate or more fits into its cache.
constexpr double kFullRate = 0.9;

// The squared error of a constant for log rates [from, to).
double ErrorOf(std::span<const SweepPoint> sweep, size_t from, size_t to) {
  double sum = 0, squares = 0;
  for (size_t i = from; i < to; ++i) {
    const double rate = std::log(sweep[i].bytes_per_second);
    sum += rate, squares += rate * rate;
  }
  return squares - sum * sum / static_cast<double>(to - from);
}

// The ends of `count` runs with the least error; empty if there are fewer points.
std::vector<size_t> BestEnds(std::span<const SweepPoint> sweep, size_t count) {
  const size_t n = sweep.size();
  if (n < count) return {};
  constexpr double kNone = std::numeric_limits<double>::infinity();
  // By number of runs and their end.
  std::vector<std::vector<double>> least(count + 1, std::vector<double>(n + 1, kNone));
  std::vector<std::vector<size_t>> begin(count + 1, std::vector<size_t>(n + 1, 0));
  least[0][0] = 0;
  for (size_t k = 1; k <= count; ++k) {
    for (size_t to = k; to <= n; ++to) {
      for (size_t from = k - 1; from < to; ++from) {
        const double error = least[k - 1][from] + ErrorOf(sweep, from, to);
        if (error < least[k][to]) least[k][to] = error, begin[k][to] = from;
      }
    }
  }
  std::vector<size_t> ends(count);
  for (size_t k = count, to = n; k > 0; to = begin[k][to], --k) ends[k - 1] = to;
  return ends;
}

double MedianRate(std::span<const SweepPoint> run) {
  // A working set next to a step is partly in either memory.
  if (run.size() > 4) run = run.subspan(1, run.size() - 2);
  std::vector<double> rates;
  for (const SweepPoint& point : run) rates.push_back(point.bytes_per_second);
  std::sort(rates.begin(), rates.end());
  return rates[rates.size() / 2];
}

// The largest working set of a run that is read at its full rate.
double Capacity(std::span<const SweepPoint> run, double rate) {
  double bytes = run.front().bytes;
  for (const SweepPoint& point : run) {
    if (point.bytes_per_second >= kFullRate * rate) bytes = point.bytes;
  }
  return bytes;
}

}  // namespace

std::vector<Plateau> FindPlateaus(std::span<const SweepPoint> sweep, int most) {
  for (auto count = static_cast<size_t>(most); count > 0; --count) {
    std::vector<Plateau> plateaus;
    size_t from = 0;
    bool all_fall = true, all_wide = true;
    for (const size_t to : BestEnds(sweep, count)) {
      const std::span<const SweepPoint> run = sweep.subspan(from, to - from);
      const double rate = MedianRate(run);
      if (!plateaus.empty()) {
        all_fall &= rate < plateaus.back().bytes_per_second * (1 - kLeastStep);
      }
      all_wide &= run.size() > 1 || count == 1;
      plateaus.push_back({Capacity(run, rate), rate});
      from = to;
    }
    if (all_fall && all_wide && !plateaus.empty()) return plateaus;
  }
  return {};
}

}  // namespace tg::calibrate
