// Tests the error measure: neighbours of exact values have the right distance.
#include "tools/accuracy/reference.h"

#include <cmath>
#include <limits>

#include "gtest/gtest.h"
#include "ir/value.h"

namespace tg::accuracy {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// The error of `result` as the function of x.
double Ulps(Op op, Scalar s, double x, double result, double y = 0) {
  return Reference(FunctionOf(op), s)
      .UlpsFrom(BitsFromDouble(s, x), BitsFromDouble(s, y), BitsFromDouble(s, result));
}

TEST(Reference, CountsUnits) {
  EXPECT_EQ(Ulps(Op::kExp2, Scalar::kF32, 3, 8), 0);
  EXPECT_EQ(Ulps(Op::kExp2, Scalar::kF32, 3, 8 + 3 * 0x1p-20), 3);
  // Below a power of two the spacing is half, but the exact value is that power.
  EXPECT_EQ(Ulps(Op::kExp2, Scalar::kF32, 3, 8 - 0x1p-21), 0.5);
  EXPECT_EQ(Ulps(Op::kExp2, Scalar::kF16, 3, 8 + 0x1p-7), 1);
  EXPECT_EQ(Ulps(Op::kExp2, Scalar::kBF16, -1, 0.5 - 0x1p-8), 1);
  EXPECT_EQ(Ulps(Op::kSqrt, Scalar::kF64, 4, 2 + 0x1p-51), 1);
  EXPECT_NEAR(Ulps(Op::kRecip, Scalar::kF32, 3, 1.0f / 3), 1.0 / 3, 1e-9);
  EXPECT_EQ(Ulps(Op::kPow, Scalar::kF32, 3, 9, 2), 0);
  EXPECT_EQ(Ulps(Op::kDiv, Scalar::kF32, 3, 1.5 + 0x1p-22, 2), 2);
}

TEST(Reference, SubnormalsHaveOneUnit) {
  EXPECT_EQ(Ulps(Op::kExp2, Scalar::kF32, -149, 0x1p-149), 0);
  EXPECT_EQ(Ulps(Op::kExp2, Scalar::kF32, -149, 0x1p-148), 1);
  EXPECT_EQ(Ulps(Op::kExp2, Scalar::kF32, -150, 0), 0.5);
  EXPECT_EQ(Ulps(Op::kExp2, Scalar::kF32, -126, 0), 0x1p23);
  EXPECT_EQ(Ulps(Op::kExp2, Scalar::kF64, -1075, 0), 0.5);
  EXPECT_EQ(Ulps(Op::kExp2, Scalar::kF16, -25, 0x1p-24), 0.5);
}

TEST(Reference, Overflow) {
  EXPECT_EQ(Ulps(Op::kExp2, Scalar::kF32, 128, kInf), 0);
  EXPECT_EQ(Ulps(Op::kExp2, Scalar::kF32, 128, 0x1.fffffep127), 1);
  EXPECT_EQ(Ulps(Op::kExp2, Scalar::kF32, 127, kInf), 0x1p23);
  EXPECT_EQ(Ulps(Op::kExp2, Scalar::kF16, 16, kInf), 0);
  EXPECT_EQ(Ulps(Op::kRecip, Scalar::kF32, 0, kInf), 0);
  EXPECT_EQ(Ulps(Op::kRecip, Scalar::kF32, -0.0, kInf), kInf);
  EXPECT_EQ(Ulps(Op::kRecip, Scalar::kF32, -0.0, -kInf), 0);
  // The format has no infinity, so the result is NaN.
  EXPECT_EQ(Ulps(Op::kExp2, Scalar::kFp8E4M3, 9, kNan), 0);
  EXPECT_EQ(Ulps(Op::kExp2, Scalar::kFp8E4M3, 8, 256), 0);
}

TEST(Reference, NoNumbersAndZeros) {
  EXPECT_EQ(Ulps(Op::kLog2, Scalar::kF32, -1, kNan), 0);
  EXPECT_EQ(Ulps(Op::kLog2, Scalar::kF32, -1, 1), kInf);
  EXPECT_EQ(Ulps(Op::kLog2, Scalar::kF32, 1, kNan), kInf);
  EXPECT_EQ(Ulps(Op::kSin, Scalar::kF32, kInf, kNan), 0);
  EXPECT_EQ(Ulps(Op::kSin, Scalar::kF32, -0.0, -0.0), 0);
  EXPECT_EQ(Ulps(Op::kSin, Scalar::kF32, -0.0, 0.0), kInf);
}

// The fast path and the exact path agree.
TEST(Reference, EnoughIsEnough) {
  for (const Op op : {Op::kExp2, Op::kLog2, Op::kSin}) {
    Reference r(FunctionOf(op), Scalar::kF32);
    for (int i = 1; i < 2000; ++i) {
      const int64_t x = BitsFromDouble(Scalar::kF32, i * 0.0173);
      const int64_t y = BitsFromDouble(Scalar::kF32, std::sin(i));
      const double exact = r.UlpsFrom(x, 0, y);
      EXPECT_NEAR(r.UlpsFrom(x, 0, y, kInf), exact, 0.001 + exact * 1e-9);
    }
  }
}

TEST(Compositions, HaveUnits) {
  for (const Composition& c : Compositions()) {
    if (c.function.name != "cos") continue;
    Reference r(c.function, Scalar::kF32);
    const int64_t x = BitsFromDouble(Scalar::kF32, 0x1.921fb6p0);
    // cos(x) is -4.4e-8: the distance to 0 is 0.37 units in the last place of numbers in [1/2, 1).
    EXPECT_NEAR(r.UlpsFrom(x, 0, 0), 4.371139e-8 * 0x1p23, 1e-3);
    return;
  }
  FAIL() << "no cos";
}

}  // namespace
}  // namespace tg::accuracy
