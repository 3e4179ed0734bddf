#include "base/arithmetic.h"

#include "gtest/gtest.h"

namespace tg {
namespace {

// A constant expression may not overflow.
constexpr int64_t kLeast = INT64_MIN, kMost = INT64_MAX;
static_assert(FloorDiv(kLeast, 3) == -3074457345618258603);
static_assert(FloorMod(kLeast, 3) == 1);
static_assert(FloorMod(kMost, -4) == -1);
static_assert(FloorMod(kLeast, kMost) == kMost - 1);

TEST(Arithmetic, FloorsAreOfOneDivision) {
  for (int64_t a = -20; a <= 20; ++a) {
    for (int64_t b : {-7, -3, -1, 1, 2, 5}) {
      const int64_t r = FloorMod(a, b);
      EXPECT_EQ(FloorDiv(a, b) * b + r, a) << a << ", " << b;
      EXPECT_TRUE(r == 0 || (r < 0) == (b < 0)) << a << ", " << b;
      EXPECT_LT(r < 0 ? -r : r, b < 0 ? -b : b) << a << ", " << b;
    }
  }
}

TEST(Arithmetic, SizesSaturate) {
  EXPECT_EQ(SaturatingMul(int64_t{1} << 31, int64_t{1} << 31), int64_t{1} << 62);
  EXPECT_EQ(SaturatingMul(int64_t{1} << 32, int64_t{1} << 31), kMost);
  EXPECT_EQ(SaturatingMul(kMost, 0), 0);
  EXPECT_EQ(SaturatingAdd(kMost - 1, 1), kMost);
  EXPECT_EQ(SaturatingAdd(kMost, 1), kMost);
}

}  // namespace
}  // namespace tg
