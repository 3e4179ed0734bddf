// Rounding and coding of narrow floats against ir/value.h, on all 16-bit patterns and on values
// around every boundary of rounding.
#include "passes/legalize/float_encoding.h"

#include <cmath>
#include <random>

#include "gtest/gtest.h"
#include "passes/legalize/evaluate_for_test.h"

namespace tg::legalize {
namespace {

bool IsNan(Scalar s, int64_t bits) { return std::isnan(DoubleFromBits(s, bits)); }

class Formats : public testing::TestWithParam<Scalar> {};

TEST_P(Formats, DecodeIsTheExactValueAndEncodeItsInverse) {
  const Scalar s = GetParam();
  Context ctx;
  Builder b(ctx);
  const UOp* code = b.ConstInt(Scalar::kU32, 12345);
  const UOp* value = DecodeFloat(b, code, s);
  Expression decode(value, {code});
  const UOp* x = b.Const(kF32, 0.3);
  Expression encode(EncodeFloat(b, x, s), {x});
  for (int64_t bits = 0; bits < int64_t{1} << BitWidth(s); ++bits) {
    const int64_t wide = decode({bits});
    if (!IsNan(s, bits)) {
      ASSERT_EQ(DoubleFromBits(Scalar::kF32, wide), DoubleFromBits(s, bits)) << bits;
    }
    ASSERT_EQ(IsNan(Scalar::kF32, wide), IsNan(s, bits)) << bits;
    ASSERT_EQ(std::signbit(DoubleFromBits(Scalar::kF32, wide)),
              std::signbit(DoubleFromBits(s, bits)));
    const int64_t again = encode({wide});
    // A signalling NaN becomes quiet, nothing else changes.
    if (IsNan(s, bits)) {
      ASSERT_TRUE(IsNan(s, again)) << bits;
    } else {
      ASSERT_EQ(again, bits);
    }
  }
}

// Values that lie on, just below and just above every kind of boundary of format s, and others.
std::vector<double> Boundaries(Scalar s) {
  std::vector<double> all = {0.0, 1e300, 1e-300, INFINITY, NAN};
  std::mt19937_64 random(7);
  for (int64_t bits = 0; bits < int64_t{1} << (BitWidth(s) - 1);
       bits += BitWidth(s) == 8 ? 1 : 13) {
    const double v = DoubleFromBits(s, bits), next = DoubleFromBits(s, bits + 1);
    if (!std::isfinite(v)) continue;
    const double middle = std::isfinite(next) ? v + (next - v) / 2 : v * (1 + std::ldexp(1, -12));
    for (double x : {v, middle, std::nextafter(middle, 0), std::nextafter(middle, INFINITY),
                     middle * (1 + 0x1p-40), middle * (1 - 0x1p-40),
                     static_cast<double>(std::nextafterf(static_cast<float>(middle), 0)),
                     static_cast<double>(std::nextafterf(static_cast<float>(middle), INFINITY))}) {
      all.push_back(x);
    }
  }
  const double largest = DoubleFromBits(s, MaxValue(s) - 1);
  for (int i = -60; i < 60; ++i) all.push_back(largest * (1 + i * 0x1p-9));
  for (int i = 0; i < 20000; ++i) {
    all.push_back(DoubleFromBits(Scalar::kF32, static_cast<int64_t>(random() & 0xffffffff)));
  }
  const size_t n = all.size();
  for (size_t i = 0; i < n; ++i) all.push_back(-all[i]);
  return all;
}

TEST_P(Formats, RoundsF32AndF64Once) {
  const Scalar s = GetParam();
  Context ctx;
  Builder b(ctx);
  for (const Scalar wide : {Scalar::kF32, Scalar::kF64}) {
    const UOp* x = b.Const(wide, 0.3);
    Expression round(RoundToFormat(b, x, s), {x});
    for (double v : Boundaries(s)) {
      const int64_t bits = BitsFromDouble(wide, v);
      const int64_t want = CastBits(wide, s, bits);
      const int64_t got = round({bits});
      if (IsNan(s, want)) {
        ASSERT_TRUE(IsNan(wide, got)) << v;
      } else {
        ASSERT_EQ(got, CastBits(s, wide, want)) << v << " from " << GetScalarInfo(wide).text;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Narrow, Formats,
                         testing::Values(Scalar::kF16, Scalar::kBF16, Scalar::kFp8E4M3,
                                         Scalar::kFp8E5M2),
                         [](const auto& info) {
                           return std::string(GetScalarInfo(info.param).text);
                         });

TEST(IntToBf16, RoundsOnce) {
  std::mt19937_64 random(3);
  for (const Scalar s : {Scalar::kI16, Scalar::kI32, Scalar::kU32, Scalar::kI64, Scalar::kU64}) {
    Context ctx;
    Builder b(ctx);
    const UOp* x = b.ConstInt(s, 12345);
    Expression round(RoundToFormat(b, IntToStickyF32(b, x), Scalar::kBF16), {x});
    const auto check = [&](uint64_t v) {
      const int64_t bits = WrapInt(s, static_cast<int64_t>(v));
      ASSERT_EQ(round({bits}),
                CastBits(Scalar::kBF16, Scalar::kF32, CastBits(s, Scalar::kBF16, bits)))
          << bits << " of " << GetScalarInfo(s).text;
    };
    for (int top = 0; top < 64; ++top) {
      for (int i = 0; i < 200; ++i) {
        // A halfway point of bf16, and its neighbours at every distance.
        const uint64_t high = (1ull << 8 | (random() & 0xff)) << 55 >> (63 - top);
        const uint64_t near = random() % 64 < 32 ? 1ull << (random() % (top + 1)) : random() % 3;
        check(high);
        check(high + near);
        check(high - near);
        check(-(high + near));
      }
    }
  }
}

}  // namespace
}  // namespace tg::legalize
