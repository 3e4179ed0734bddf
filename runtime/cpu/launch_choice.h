// LaunchChoice: whether a kernel's launches are shared among threads, as its launches show.
//
// Sharing a launch takes some hundred nanoseconds, and afterwards each thread reads what the others
// have written. A small kernel is done in that time. Which way is faster depends on the sizes of a
// run, on the kernels around it and on what else the processors do, so both are measured by turns.
#ifndef TG_RUNTIME_CPU_LAUNCH_CHOICE_H_
#define TG_RUNTIME_CPU_LAUNCH_CHOICE_H_

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>

namespace tg::cpu {

class LaunchChoice {
 public:
  // A kernel whose shared launches take more nanoseconds is never run alone.
  static constexpr int64_t kShortNanos = 20'000;
  // Launches of each way, half of them in a row, that are measured before the faster one is used.
  static constexpr uint32_t kTrials = 6;
  // Launches after that, before both ways are measured again.
  static constexpr uint32_t kPeriod = 4096;
  // If launches alone took this many times longer, they are not tried a second time.
  static constexpr int64_t kHopeless = 4;

  // Begins a launch of this many groups.
  void Begin(int64_t groups) {
    // Another number of groups is other work, but one that grows little by little is not.
    const int size = std::bit_width(static_cast<uint64_t>(groups));
    if (size != size_ || ++launch_ == 2 * kTrials + kPeriod) {
      size_ = size;
      launch_ = 0;
      alone_ = shared_ = kNone;
    }
  }
  bool IsMeasured() const { return launch_ < 2 * kTrials; }
  bool IsShared() const {
    if (shared_ == kNone || shared_ > kShortNanos) return true;
    // Several launches of one way in a row, since the first moves data between caches.
    return IsMeasured() ? launch_ % kTrials < kTrials / 2 : shared_ <= alone_;
  }
  // How long the launch took that was begun.
  void Add(int64_t nanos) {
    int64_t& least = IsShared() ? shared_ : alone_;
    least = std::min(least, nanos);
    if (launch_ + 1 == kTrials && alone_ / kHopeless > shared_) launch_ = 2 * kTrials;
  }

 private:
  static constexpr int64_t kNone = std::numeric_limits<int64_t>::max();

  int64_t alone_ = kNone, shared_ = kNone;  // the least of each
  uint32_t launch_ = 0;                     // since both were forgotten
  int size_ = 0;
};

}  // namespace tg::cpu

#endif  // TG_RUNTIME_CPU_LAUNCH_CHOICE_H_
