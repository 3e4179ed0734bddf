#include "runtime/cpu/launch_choice.h"

#include "gtest/gtest.h"

namespace tg::cpu {
namespace {

constexpr int kTrials = static_cast<int>(LaunchChoice::kTrials);
constexpr int kPeriod = static_cast<int>(LaunchChoice::kPeriod);

struct Count {
  int shared = 0, alone = 0;
};

// Launches of a kernel that takes these times.
Count RunLaunches(LaunchChoice& choice, int launches, int64_t groups, int64_t shared,
                  int64_t alone) {
  Count count;
  for (int i = 0; i < launches; ++i) {
    choice.Begin(groups);
    ++(choice.IsShared() ? count.shared : count.alone);
    if (choice.IsMeasured()) choice.Add(choice.IsShared() ? shared : alone);
  }
  return count;
}

TEST(LaunchChoice, MeasuresBothWaysAndTakesTheFasterOne) {
  for (const bool alone_is_faster : {false, true}) {
    LaunchChoice choice;
    const int64_t shared = alone_is_faster ? 900 : 500, alone = 700;
    const Count trials = RunLaunches(choice, 2 * kTrials, 8, shared, alone);
    EXPECT_EQ(trials.shared, kTrials);
    EXPECT_EQ(trials.alone, kTrials);
    const Count then = RunLaunches(choice, kPeriod - 1, 8, shared, alone);
    EXPECT_EQ(alone_is_faster ? then.shared : then.alone, 0);
  }
}

TEST(LaunchChoice, OneInterruptionDecidesNothing) {
  LaunchChoice choice;
  RunLaunches(choice, 1, 8, 1'000'000, 700);
  RunLaunches(choice, kTrials / 2 - 1, 8, 900, 700);
  RunLaunches(choice, 1, 8, 900, 1'000'000);
  RunLaunches(choice, 2 * kTrials, 8, 900, 700);
  EXPECT_FALSE(choice.IsShared());
}

TEST(LaunchChoice, LongKernelsAreNeverRunAlone) {
  LaunchChoice choice;
  const int64_t shared = LaunchChoice::kShortNanos + 1;
  EXPECT_EQ(RunLaunches(choice, 3 * kPeriod, 8, shared, 2 * shared).alone, 0);
}

TEST(LaunchChoice, WhatTakesManyTimesLongerIsNotTriedAgain) {
  LaunchChoice choice;
  EXPECT_EQ(RunLaunches(choice, kPeriod, 64, 1000, 64'000).alone, kTrials / 2);
}

TEST(LaunchChoice, MeasuresAgainAfterAWhile) {
  LaunchChoice choice;
  RunLaunches(choice, 2 * kTrials + kPeriod, 8, 500, 700);
  EXPECT_TRUE(choice.IsShared());
  // The other processors are busy from now on.
  RunLaunches(choice, 2 * kTrials + 1, 8, 5000, 700);
  EXPECT_FALSE(choice.IsShared());
}

TEST(LaunchChoice, AnotherSizeIsMeasuredAnew) {
  LaunchChoice choice;
  RunLaunches(choice, 100, 8, 900, 700);
  EXPECT_FALSE(choice.IsShared());
  // A few groups more are the same work.
  choice.Begin(9);
  EXPECT_FALSE(choice.IsShared());
  choice.Begin(64);
  EXPECT_TRUE(choice.IsShared());
  RunLaunches(choice, 100, 64, 2000, 4000);
  EXPECT_TRUE(choice.IsShared());
}

}  // namespace
}  // namespace tg::cpu
