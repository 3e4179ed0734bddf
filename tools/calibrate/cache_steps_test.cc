#include "tools/calibrate/cache_steps.h"

#include <vector>

#include "gtest/gtest.h"

namespace tg::calibrate {
namespace {

// A sweep in powers of two from 1 KiB, of these rates.
std::vector<SweepPoint> Sweep(const std::vector<double>& rates) {
  std::vector<SweepPoint> sweep;
  double bytes = 1024;
  for (const double rate : rates) sweep.push_back({bytes, rate}), bytes *= 2;
  return sweep;
}

TEST(CacheSteps, EachCacheIsAPlateau) {
  const auto found =
      FindPlateaus(Sweep({100, 101, 99, 100, 70, 50, 51, 49, 50, 50, 22, 20, 20, 21}), 4);
  ASSERT_EQ(found.size(), 3u);
  EXPECT_GE(found[0].bytes, 8 * 1024);
  EXPECT_LE(found[0].bytes, 16 * 1024);
  EXPECT_NEAR(found[0].bytes_per_second, 100, 1.5);
  EXPECT_EQ(found[1].bytes, 512 * 1024);
  EXPECT_NEAR(found[1].bytes_per_second, 50, 1.5);
  EXPECT_EQ(found[2].bytes, 8192 * 1024);
  EXPECT_NEAR(found[2].bytes_per_second, 20, 1);
}

TEST(CacheSteps, ACapacityIsReadAtTheFullRate) {
  const auto found = FindPlateaus(Sweep({100, 100, 100, 101, 99, 84, 40, 41, 40, 40, 39}), 2);
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].bytes, 16 * 1024);
  EXPECT_EQ(found[1].bytes, 1024 * 1024);
}

TEST(CacheSteps, NoiseIsNoStep) {
  const auto found = FindPlateaus(Sweep({100, 104, 97, 101, 95, 103, 99, 100}), 4);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].bytes, 128 * 1024);
}

TEST(CacheSteps, ARisingRateIsNoStep) {
  const auto found = FindPlateaus(Sweep({50, 50, 100, 100, 100, 100, 40, 40, 40}), 4);
  for (size_t i = 1; i < found.size(); ++i) {
    EXPECT_LT(found[i].bytes_per_second, found[i - 1].bytes_per_second);
  }
  ASSERT_FALSE(found.empty());
  EXPECT_NEAR(found.back().bytes_per_second, 40, 1);
}

TEST(CacheSteps, FewPoints) {
  EXPECT_TRUE(FindPlateaus({}, 4).empty());
  EXPECT_EQ(FindPlateaus(Sweep({10}), 4).size(), 1u);
}

}  // namespace
}  // namespace tg::calibrate
