#include "tools/bench/timing.h"

#include <gtest/gtest.h>

#include <string>

#include "tools/bench/limits.h"

namespace tg::bench {
namespace {

TEST(Quantile, Interpolates) {
  EXPECT_EQ(Quantile({}, 0.5), 0);
  EXPECT_EQ(Quantile({3}, 0.25), 3);
  EXPECT_EQ(Quantile({4, 1, 3, 2}, 0.5), 2.5);
  EXPECT_EQ(Quantile({4, 1, 3, 2}, 0), 1);
  EXPECT_EQ(Quantile({4, 1, 3, 2}, 1), 4);
}

TEST(Timing, SpreadIsHalfTheQuartilesDistance) {
  const Timing timing{.seconds = {1, 2, 3, 4, 5}};
  EXPECT_EQ(timing.median(), 3);
  EXPECT_EQ(timing.least(), 1);
  EXPECT_DOUBLE_EQ(timing.spread(), 1.0 / 3);
}

TEST(RatioByTurns, IsTheMedianOfQuotients) {
  EXPECT_EQ(RatioByTurns({.seconds = {2, 4, 30}}, {.seconds = {1, 4, 10}}), 2);
}

// Each turn has a run that warms up and a batch, in one order and then in the other.
TEST(TakeTurns, AlternatesAndBatches) {
  std::string log;
  const auto contestant = [&](char name, double seconds) {
    return Contestant{std::string(1, name), [&log, name, seconds](int64_t times) {
                        log += times > 1 ? std::string(1, name) : "";
                        return absl::StatusOr<double>(seconds);
                      }};
  };
  const Contestant both[] = {contestant('a', 0.001), contestant('b', 0.02)};
  TimingOptions options;
  options.min_turns = 4;
  options.min_seconds = 0;
  const auto timings = TakeTurns(both, options);
  ASSERT_TRUE(timings.ok());
  EXPECT_EQ(log, "abbaabba");
  EXPECT_EQ((*timings)[0].batch, 50);
  EXPECT_EQ((*timings)[1].batch, 5);
  EXPECT_EQ((*timings)[0].seconds, std::vector<double>(4, 0.001));
}

TEST(TakeTurns, StopsAtAnError) {
  const Contestant broken{"broken", [](int64_t) { return absl::InternalError("it broke"); }};
  EXPECT_EQ(TakeTurns({&broken, 1}, {}).status().message(), "it broke");
}

// Hand-counted: the longer of the operations and of the memory.
TEST(LimitSeconds, IsTheLongerOfOperationsAndMemory) {
  const DeviceLimits limits{
      .copy_bytes_per_second = 100, .read_bytes_per_second = 50, .flops_per_second = 1000};
  const Row product{.work = Work::kMatMul, .m = 10, .k = 10, .n = 10, .conv = {}};
  // 2000 operations: 2 s. 400 bytes of 800 are copied (8 s), 400 read (8 s).
  EXPECT_DOUBLE_EQ(LimitSeconds(product, limits), 16);
  DeviceLimits slow = limits;
  slow.flops_per_second = 100;
  EXPECT_DOUBLE_EQ(LimitSeconds(product, slow), 20);
}

}  // namespace
}  // namespace tg::bench
