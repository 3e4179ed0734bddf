#include "runtime/media/taps.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace tg::runtime {
namespace {

// Zero crossings of the sinc on each side: more make its cutoff steeper.
constexpr double kSincRadius = 16;

double Triangle(double distance) { return std::max(0.0, 1 - std::abs(distance)); }

double WindowedSinc(double distance) {
  if (std::abs(distance) >= kSincRadius) return 0;
  const double angle = std::numbers::pi * distance;
  const double window = 0.5 + 0.5 * std::cos(angle / kSincRadius);
  return distance == 0 ? 1 : std::sin(angle) / angle * window;
}

}  // namespace

const Kernel kTriangle = {Triangle, 1};
const Kernel kWindowedSinc = {WindowedSinc, kSincRadius};

Taps TapsAt(const Kernel& kernel, double center, double stretch, int64_t size) {
  const double reach = kernel.radius * stretch;
  Taps taps;
  taps.first = std::clamp<int64_t>(std::llround(std::floor(center - reach)), 0, size - 1);
  const int64_t end =
      std::clamp<int64_t>(std::llround(std::ceil(center + reach)), taps.first + 1, size);
  double sum = 0;
  std::vector<double> weights;
  for (int64_t i = taps.first; i < end; ++i) {
    weights.push_back(kernel.value((static_cast<double>(i) + 0.5 - center) / stretch));
    sum += weights.back();
  }
  // Far outside of the input: the nearest element.
  if (sum == 0) {
    std::fill(weights.begin(), weights.end(), 0);
    (center < 0.5 ? weights.front() : weights.back()) = sum = 1;
  }
  for (const double w : weights) taps.weights.push_back(static_cast<float>(w / sum));
  return taps;
}

std::vector<Taps> TapsOver(const Kernel& kernel, double begin, double end, int64_t count,
                           int64_t size) {
  const double step = (end - begin) / static_cast<double>(count);
  std::vector<Taps> taps;
  taps.reserve(static_cast<size_t>(count));
  for (int64_t i = 0; i < count; ++i) {
    const double center = begin + (static_cast<double>(i) + 0.5) * step;
    taps.push_back(TapsAt(kernel, center, std::max(1.0, step), size));
  }
  return taps;
}

}  // namespace tg::runtime
