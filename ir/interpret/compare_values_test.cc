#include "ir/interpret/compare_values.h"

#include <cmath>
#include <limits>
#include <set>

#include "gtest/gtest.h"
#include "ir/interpret/random_data.h"
#include "ir/value.h"

namespace tg::interpret {
namespace {

using Numbers = std::vector<double>;

HostBuffer F32(const Numbers& v) {
  return BufferOf(Scalar::kF32, {static_cast<int64_t>(v.size())}, v);
}

TEST(Compare, BitsUnlessAllowed) {
  EXPECT_EQ(Difference(F32({1, 2}), F32({1, 2})), std::nullopt);
  EXPECT_EQ(Difference(F32({NAN}), F32({-NAN})), std::nullopt);
  EXPECT_NE(Difference(F32({0.0}), F32({-0.0})), std::nullopt);
  EXPECT_NE(Difference(F32({1}), F32({1 + 0x1p-23})), std::nullopt);
  EXPECT_EQ(Difference(F32({1}), F32({1 + 0x1p-23}), {.ulps = 1}), std::nullopt);
  EXPECT_NE(Difference(F32({1}), F32({1 + 0x1p-22}), {.ulps = 1}), std::nullopt);
  EXPECT_EQ(Difference(F32({0.0}), F32({-0.0}), {.ulps = 1}), std::nullopt);
  EXPECT_EQ(Difference(F32({100}), F32({100.5}), {.relative = 0.01}), std::nullopt);
  EXPECT_NE(Difference(F32({100}), F32({NAN}), {.relative = 0.01}), std::nullopt);
  EXPECT_NE(Difference(F32({INFINITY}), F32({1}), {.relative = 0.01}), std::nullopt);
}

TEST(Compare, ReportsTheFirstAndTheWorst) {
  HostBuffer a = BufferOf(Scalar::kI32, {2, 3}, Numbers{1, 2, 3, 4, 5, 6});
  HostBuffer b = BufferOf(Scalar::kI32, {2, 3}, Numbers{1, 2, 3, 9, 5, 7});
  EXPECT_EQ(Difference(a, b), "element [1, 0]: expected 4, got 9; 2 of 6 differ");
  EXPECT_EQ(Difference(F32({1, 2}), F32({1.5, 8}), {.absolute = 0.25}),
            "element [0]: expected 1 (0x3f800000), got 1.5 (0x3fc00000); 2 of 2 differ, worst [1]: "
            "expected 2 (0x40000000), got 8 (0x41000000)");
}

TEST(Compare, BoundsOfTheExpectedBuffer) {
  HostBuffer a = F32({1, 2});
  a.error = {0.5, 0};
  EXPECT_EQ(Difference(a, F32({1.5, 2})), std::nullopt);
  EXPECT_NE(Difference(a, F32({1.6, 2})), std::nullopt);
  EXPECT_NE(Difference(a, F32({1, 2.0001})), std::nullopt);
}

// A value that overflows is infinite, or NaN if the type has no infinity; a value that does not
// overflow is neither.
TEST(Compare, OneMayOverflow) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const auto differ = [](Scalar s, double a, double error, double b) {
    HostBuffer expected = BufferOf(s, {1}, Numbers{a});
    expected.error = {error};
    return Difference(expected, BufferOf(s, {1}, Numbers{b})).has_value();
  };
  EXPECT_FALSE(differ(Scalar::kFp8E4M3, -448, 40, nan));
  EXPECT_TRUE(differ(Scalar::kFp8E4M3, -448, 1, nan));
  EXPECT_TRUE(differ(Scalar::kFp8E4M3, 128, 40, nan));
  EXPECT_TRUE(differ(Scalar::kF16, 65504, 100, nan));
  EXPECT_FALSE(differ(Scalar::kF16, 65504, 100, std::numeric_limits<double>::infinity()));
}

TEST(Compare, BuffersAreNamed) {
  EXPECT_EQ(Difference(HostBuffers{{"y", F32({1})}}, HostBuffers{}), "buffer @y is missing");
  EXPECT_EQ(Difference(F32({1}), BufferOf(Scalar::kF16, {1}, Numbers{1})),
            "types differ: expected f32, got f16");
}

TEST(RandomData, IsDeterministicAndCoversSpecialValues) {
  RandomDataOptions options;
  options.special_values = true;
  for (int k = 1; k < kNumScalars; ++k) {
    const Scalar s = static_cast<Scalar>(k);
    if (s == Scalar::kIndex) continue;
    const HostBuffer a = RandomBuffer(DType(s), {2000}, options);
    EXPECT_EQ(a.data, RandomBuffer(DType(s), {2000}, options).data);
    std::set<int64_t> seen(a.data.begin(), a.data.end());
    EXPECT_TRUE(seen.contains(MinValue(s)) && seen.contains(MaxValue(s)));
    if (!IsFloat(s)) continue;
    EXPECT_TRUE(seen.contains(BitsFromDouble(s, -0.0)) && seen.contains(1));
    bool nan = false;
    for (double v : ToDoubles(a)) nan |= std::isnan(v);
    EXPECT_TRUE(nan);
  }
}

TEST(RandomData, OrdinaryFloatsAreTame) {
  for (Scalar s : {Scalar::kFp8E4M3, Scalar::kFp8E5M2, Scalar::kF16, Scalar::kF32}) {
    for (double v : ToDoubles(RandomBuffer(DType(s), {500}, {.seed = 3}))) {
      EXPECT_GE(std::fabs(v), 0.0625);
      EXPECT_LE(std::fabs(v), 2.5);
    }
  }
}

TEST(HostBuffer, BytesThereAndBack) {
  for (int k = 1; k < kNumScalars; ++k) {
    const Scalar s = static_cast<Scalar>(k);
    if (s == Scalar::kIndex) continue;
    const HostBuffer a = RandomBuffer(DType(s), {64}, {.special_values = true});
    const std::vector<uint8_t> bytes = BufferToBytes(a);
    EXPECT_EQ(bytes.size(), 64u * static_cast<size_t>(ByteSize(s)));
    EXPECT_EQ(BufferFromBytes(DType(s), {64}, bytes.data()).data, a.data);
  }
}

}  // namespace
}  // namespace tg::interpret
