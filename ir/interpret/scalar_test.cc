#include "ir/interpret/scalar.h"

#include <bit>
#include <cmath>
#include <limits>
#include <random>
#include <utility>

#include "gtest/gtest.h"
#include "ir/value.h"

namespace tg::interpret {
namespace {

int64_t Eval(Op op, Scalar s, std::initializer_list<int64_t> in, MulAcc m = MulAcc::kFused) {
  const auto r = EvalAlu(op, s, std::span(in.begin(), in.size()), m);
  EXPECT_TRUE(r.has_value()) << Mnemonic(op);
  return r.value_or(0);
}

int64_t F(Scalar s, double v) { return BitsFromDouble(s, v); }

// What C's int makes of the op, to be wrapped to eight bits.
int EightBits(Op op, int a, int b, int bits_mask) {
  switch (op) {
    case Op::kAdd:
      return a + b;
    case Op::kSub:
      return a - b;
    case Op::kMul:
      return a * b;
    case Op::kAnd:
      return a & b;
    case Op::kOr:
      return a | b;
    case Op::kXor:
      return a ^ b;
    case Op::kMax:
      return std::max(a, b);
    case Op::kMin:
      return std::min(a, b);
    case Op::kCDiv:
      return b == 0 ? 0 : a / b;
    case Op::kCMod:
      return b == 0 ? a : a % b;
    case Op::kFloorDiv:
      return b == 0 ? 0 : static_cast<int>(std::floor(static_cast<double>(a) / b));
    case Op::kFloorMod:
      return b == 0 ? a : a - b * static_cast<int>(std::floor(static_cast<double>(a) / b));
    case Op::kShl:
      return b < 0 || b >= 8 ? 0 : a * (1 << b);
    case Op::kShr:
      if (b < 0 || b >= 8) return a < 0 ? -1 : 0;
      return static_cast<int>(std::floor(static_cast<double>(a) / (1 << b)));
    default:
      return bits_mask;
  }
}

TEST(Scalar, EightBitIntegersExhaustively) {
  const Op ops[] = {Op::kAdd,      Op::kSub,  Op::kMul, Op::kAnd,  Op::kOr,
                    Op::kXor,      Op::kMax,  Op::kMin, Op::kCDiv, Op::kFloorDiv,
                    Op::kFloorMod, Op::kCMod, Op::kShl, Op::kShr};
  for (Scalar s : {Scalar::kI8, Scalar::kU8}) {
    const int low = s == Scalar::kI8 ? -128 : 0;
    for (Op op : ops) {
      for (int a = low; a < low + 256; ++a) {
        for (int b = low; b < low + 256; ++b) {
          const int wide = EightBits(op, a, b, 0);
          const int expected = ((wide - low) % 256 + 256) % 256 + low;
          ASSERT_EQ(Eval(op, s, {a, b}), expected)
              << Mnemonic(op) << " " << a << " " << b << " " << GetScalarInfo(s).text;
        }
      }
    }
    for (int a = low; a < low + 256; ++a) {
      for (int b = low; b < low + 256; ++b) {
        ASSERT_EQ(Eval(Op::kCmpLt, s, {a, b}), a < b);
        ASSERT_EQ(Eval(Op::kCmpNe, s, {a, b}), a != b);
      }
      ASSERT_EQ(Eval(Op::kNeg, s, {a}), ((-a - low) % 256 + 256) % 256 + low);
    }
  }
}

TEST(Scalar, EdgesOfWideIntegers) {
  EXPECT_EQ(Eval(Op::kCDiv, Scalar::kI64, {INT64_MIN, -1}), INT64_MIN);
  EXPECT_EQ(Eval(Op::kFloorMod, Scalar::kI64, {INT64_MIN, -1}), 0);
  EXPECT_EQ(Eval(Op::kCDiv, Scalar::kI32, {INT32_MIN, -1}), INT32_MIN);
  EXPECT_EQ(Eval(Op::kFloorDiv, Scalar::kU64, {-1, 2}), INT64_MAX);
  EXPECT_EQ(Eval(Op::kCmpLt, Scalar::kU64, {1, -1}), 1);
  EXPECT_EQ(Eval(Op::kMax, Scalar::kU64, {1, -1}), -1);
  EXPECT_EQ(Eval(Op::kShr, Scalar::kU64, {INT64_MIN, 63}), 1);
  EXPECT_EQ(Eval(Op::kShr, Scalar::kI64, {INT64_MIN, 64}), -1);
  EXPECT_EQ(Eval(Op::kShl, Scalar::kU32, {1, 1LL << 32}), 0);
  EXPECT_EQ(Eval(Op::kMul, Scalar::kU32, {0xffffffff, 0xffffffff}), 1);
  EXPECT_EQ(Eval(Op::kMulAcc, Scalar::kI32, {1 << 16, 1 << 16, 7}), 7);
  // The bytes of the first word are unsigned, those of the second one signed.
  EXPECT_EQ(Eval(Op::kDot4, Scalar::kI32, {-1, -1, 5}), 5 - 4 * 255);
  EXPECT_EQ(Eval(Op::kDot4, Scalar::kI32, {-1, -0x7f7f7f80, 0}), -4 * 255 * 128);
  EXPECT_EQ(Eval(Op::kDot4, Scalar::kI32, {0x04030201, 0x7f0000ff, 0}), 4 * 127 - 1);
  EXPECT_EQ(Eval(Op::kDot4, Scalar::kI32, {255, 128, INT32_MIN}), INT32_MAX - 255 * 128 + 1);
  EXPECT_EQ(Eval(Op::kAdd, Scalar::kBool, {1, 1}), 1);
  EXPECT_EQ(Eval(Op::kMul, Scalar::kBool, {1, 0}), 0);
  EXPECT_EQ(Eval(Op::kWhere, Scalar::kI32, {0, 5, 6}), 6);
}

TEST(Scalar, IndexOverflowIsNoticed) {
  const auto overflows = [](Op op, std::initializer_list<int64_t> in) {
    return !EvalAlu(op, Scalar::kIndex, std::span(in.begin(), in.size())).has_value();
  };
  EXPECT_TRUE(overflows(Op::kAdd, {INT64_MAX, 1}));
  EXPECT_TRUE(overflows(Op::kMul, {INT64_MAX, 2}));
  EXPECT_TRUE(overflows(Op::kNeg, {INT64_MIN}));
  EXPECT_TRUE(overflows(Op::kFloorDiv, {INT64_MIN, -1}));
  EXPECT_TRUE(overflows(Op::kMulAcc, {1LL << 32, 1LL << 30, 1LL << 62}));
  EXPECT_FALSE(overflows(Op::kSub, {INT64_MIN, INT64_MIN}));
  EXPECT_FALSE(overflows(Op::kFloorMod, {INT64_MIN, -1}));
}

TEST(Scalar, HalfArithmeticIsRoundedOnce) {
  std::mt19937 rng(7);
  for (int i = 0; i < 200000; ++i) {
    const auto a = static_cast<uint16_t>(rng()), b = static_cast<uint16_t>(rng()),
               c = static_cast<uint16_t>(rng());
    const _Float16 x = std::bit_cast<_Float16>(a), y = std::bit_cast<_Float16>(b);
    const auto check = [&](Op op, _Float16 expected, int64_t actual) {
      const auto bits = std::bit_cast<uint16_t>(expected);
      if (std::isnan(static_cast<float>(expected))) {
        ASSERT_TRUE(std::isnan(DoubleFromBits(Scalar::kF16, actual)));
      } else {
        ASSERT_EQ(actual, bits) << Mnemonic(op) << " " << a << " " << b << " " << c;
      }
    };
    const auto f = [](_Float16 v) { return static_cast<float>(v); };
    check(Op::kAdd, static_cast<_Float16>(f(x) + f(y)), Eval(Op::kAdd, Scalar::kF16, {a, b}));
    check(Op::kMul, static_cast<_Float16>(f(x) * f(y)), Eval(Op::kMul, Scalar::kF16, {a, b}));
    check(Op::kDiv, static_cast<_Float16>(f(x) / f(y)), Eval(Op::kDiv, Scalar::kF16, {a, b}));
    check(Op::kSqrt, static_cast<_Float16>(std::sqrt(f(x))), Eval(Op::kSqrt, Scalar::kF16, {a}));
    // 128 bits hold a*b + c of halves exactly.
    const __float128 exact = static_cast<__float128>(f(x)) * static_cast<__float128>(f(y)) +
                             static_cast<__float128>(f(std::bit_cast<_Float16>(c)));
    check(Op::kMulAcc, static_cast<_Float16>(exact), Eval(Op::kMulAcc, Scalar::kF16, {a, b, c}));
  }
}

TEST(Scalar, SingleArithmetic) {
  std::mt19937 rng(8);
  for (int i = 0; i < 200000; ++i) {
    const uint32_t a = rng(), b = rng(), c = i % 2 ? rng() : a ^ (rng() & 0xffff);
    const auto x = std::bit_cast<float>(a), y = std::bit_cast<float>(b),
               z = std::bit_cast<float>(c);
    const auto check = [&](Op op, float expected, int64_t actual) {
      if (std::isnan(expected)) {
        ASSERT_TRUE(std::isnan(std::bit_cast<float>(static_cast<uint32_t>(actual))));
      } else {
        ASSERT_EQ(actual, std::bit_cast<uint32_t>(expected))
            << Mnemonic(op) << " " << a << " " << b;
      }
    };
    check(Op::kAdd, x + y, Eval(Op::kAdd, Scalar::kF32, {a, b}));
    check(Op::kRecip, 1.0f / x, Eval(Op::kRecip, Scalar::kF32, {a}));
    check(Op::kMulAcc, std::fma(x, y, z), Eval(Op::kMulAcc, Scalar::kF32, {a, b, c}));
    const float product = x * y;
    check(Op::kMulAcc, product + z,
          Eval(Op::kMulAcc, Scalar::kF32, {a, b, c}, MulAcc::kTwoRoundings));
    check(Op::kNeg, -x, Eval(Op::kNeg, Scalar::kF32, {a}));
  }
}

TEST(Scalar, FusedBfloat16DoesNotRoundTwice) {
  // (1 + 2^-4) * (1 + 2^-4) = 1 + 2^-3 + 2^-8 lies halfway between two bf16 numbers: what is far
  // below the last place of a double decides.
  const int64_t x = F(Scalar::kBF16, 1.0625), even = F(Scalar::kBF16, 1.125);
  const int64_t tiny = F(Scalar::kBF16, 0x1p-100), minus = F(Scalar::kBF16, -0x1p-100);
  EXPECT_EQ(Eval(Op::kMulAcc, Scalar::kBF16, {x, x, 0}), even);
  EXPECT_EQ(Eval(Op::kMulAcc, Scalar::kBF16, {x, x, tiny}), even + 1);
  EXPECT_EQ(Eval(Op::kMulAcc, Scalar::kBF16, {x, x, minus}), even);
  EXPECT_EQ(Eval(Op::kMulAcc, Scalar::kBF16, {x, x, tiny}, MulAcc::kTwoRoundings), even);
}

TEST(Scalar, NanAndSignedZero) {
  for (Scalar s : {Scalar::kF16, Scalar::kBF16, Scalar::kF32, Scalar::kF64}) {
    const int64_t nan = F(s, std::nan("")), one = F(s, 1), zero = F(s, 0.0), minus = F(s, -0.0);
    for (Op op : {Op::kMax, Op::kMin}) {
      EXPECT_TRUE(std::isnan(DoubleFromBits(s, Eval(op, s, {nan, one}))));
      EXPECT_TRUE(std::isnan(DoubleFromBits(s, Eval(op, s, {one, nan}))));
      EXPECT_EQ(Eval(op, s, {zero, minus}), zero);
      EXPECT_EQ(Eval(op, s, {minus, zero}), minus);
    }
    EXPECT_EQ(Eval(Op::kCmpLt, s, {nan, one}), 0);
    EXPECT_EQ(Eval(Op::kCmpLt, s, {one, nan}), 0);
    EXPECT_EQ(Eval(Op::kCmpNe, s, {nan, nan}), 1);
    EXPECT_EQ(Eval(Op::kCmpNe, s, {zero, minus}), 0);
    EXPECT_EQ(Eval(Op::kNeg, s, {zero}), minus);
    EXPECT_EQ(Eval(Op::kExp2, s, {F(s, 3)}), F(s, 8));
    EXPECT_EQ(Eval(Op::kLog2, s, {F(s, 8)}), F(s, 3));
    EXPECT_EQ(Eval(Op::kPow, s, {F(s, -2), F(s, 3)}), F(s, -8));
    EXPECT_EQ(Eval(Op::kSin, s, {minus}), minus);
  }
}

TEST(Scalar, TruncIsExactAndKeepsTheSign) {
  constexpr std::pair<double, double> kCases[] = {{0.5, 0.0}, {-0.5, -0.0},   {-0.0, -0.0},
                                                  {1.5, 1.0}, {-0.875, -0.0}, {-3.5, -3.0}};
  for (Scalar s : {Scalar::kFp8E4M3, Scalar::kFp8E5M2, Scalar::kF16, Scalar::kBF16, Scalar::kF32,
                   Scalar::kF64}) {
    for (const auto& [x, whole] : kCases) {
      EXPECT_EQ(Eval(Op::kTrunc, s, {F(s, x)}), F(s, whole)) << x;
    }
  }
  EXPECT_EQ(Eval(Op::kTrunc, Scalar::kF32, {F(Scalar::kF32, 8388607.5)}), F(Scalar::kF32, 8388607));
  EXPECT_EQ(Eval(Op::kTrunc, Scalar::kF64, {F(Scalar::kF64, -0x1p80)}), F(Scalar::kF64, -0x1p80));
  EXPECT_EQ(Eval(Op::kTrunc, Scalar::kF32, {F(Scalar::kF32, HUGE_VAL)}), F(Scalar::kF32, HUGE_VAL));
}

// The vectors that come with the paper's code.
TEST(Scalar, ThreefryKnownAnswers) {
  EXPECT_EQ(Threefry2x32(0, 0), 0x99ba4efe6b200159u);
  EXPECT_EQ(Threefry2x32(~0ull, ~0ull), 0xbb002be71cb996fcu);
  EXPECT_EQ(Threefry2x32(0x85a308d3243f6a88u, 0x0370734413198a2eu), 0x483df7a0c4923a9cu);
  EXPECT_EQ(static_cast<uint64_t>(Eval(Op::kThreefry, Scalar::kU64, {0, 0})), 0x99ba4efe6b200159u);
}

// Special and random bits of a type, canonical.
std::vector<int64_t> Samples(Scalar s) {
  std::mt19937_64 rng(static_cast<uint64_t>(s));
  std::vector<int64_t> out = {MinValue(s), MaxValue(s), 0, BitsFromInt(s, 1), BitsFromInt(s, -1)};
  for (int i = 0; i < 40; ++i) {
    const auto bits = static_cast<int64_t>(rng());
    if (s == Scalar::kBool) {
      out.push_back(bits & 1);
    } else if (IsFloat(s)) {
      out.push_back(BitsFromDouble(s, std::ldexp(static_cast<double>(bits >> 40), i % 20 - 25)));
    } else if (s == Scalar::kIndex) {
      out.push_back(bits >> 40);
    } else {
      out.push_back(WrapInt(s, bits));
    }
  }
  return out;
}

TEST(Scalar, LanesAgreeWithSingleLanes) {
  int compared = 0;
  for (int o = 0; o < kNumOps; ++o) {
    const Op op = static_cast<Op>(o);
    if (!IsAlu(op)) continue;
    const OpInfo& info = GetOpInfo(op);
    for (int k = 1; k < kNumScalars; ++k) {
      const Scalar s = static_cast<Scalar>(k);
      const ScalarClass cls = GetScalarInfo(s).cls;
      const char letter = cls == ScalarClass::kBool    ? 'b'
                          : cls == ScalarClass::kFloat ? 'f'
                          : cls == ScalarClass::kIndex ? 'x'
                                                       : 'i';
      if (!info.classes.empty() && !info.AllowsClass(letter)) continue;
      const std::vector<int64_t> v = Samples(s);
      std::vector<int64_t> a, b, c;
      for (int64_t x : v) {
        for (int64_t y : v) {
          a.push_back(op == Op::kWhere ? (x & 1) : x);
          b.push_back(y);
          c.push_back(v[(a.size() * 7) % v.size()]);
        }
      }
      std::vector<int64_t> out(a.size());
      const bool binary = info.max_sources > 1, ternary = info.max_sources > 2;
      for (size_t at = 0; at < a.size(); ++at) {
        const size_t n = a.size() - at;
        at += EvalAluLanes(op, s, n, &a[at], binary ? &b[at] : nullptr, ternary ? &c[at] : nullptr,
                           &out[at]);
        if (at < a.size()) {
          const int64_t in[] = {a[at], b[at], c[at]};
          EXPECT_FALSE(EvalAlu(op, s, std::span(in, static_cast<size_t>(info.max_sources))));
          out[at] = INT64_MAX - 12345;
        }
      }
      for (size_t i = 0; i < a.size(); ++i) {
        const int64_t in[] = {a[i], b[i], c[i]};
        const auto r = EvalAlu(op, s, std::span(in, static_cast<size_t>(info.max_sources)));
        ASSERT_EQ(out[i], r.value_or(INT64_MAX - 12345)) << info.mnemonic;
        ++compared;
      }
    }
  }
  EXPECT_GT(compared, 500000);
}

TEST(Scalar, ReduceIdentityChangesNothing) {
  for (Op op : {Op::kAdd, Op::kMul, Op::kMax, Op::kMin, Op::kAnd, Op::kOr, Op::kXor}) {
    for (int k = 1; k < kNumScalars; ++k) {
      const Scalar s = static_cast<Scalar>(k);
      const bool bitwise = op == Op::kAnd || op == Op::kOr || op == Op::kXor;
      if (bitwise && (IsFloat(s) || s == Scalar::kIndex)) continue;
      for (int64_t x : Samples(s)) {
        if (IsFloat(s) && std::isnan(DoubleFromBits(s, x))) continue;
        EXPECT_EQ(DoubleFromBits(s, Eval(op, s, {ReduceIdentity(op, s), x})), DoubleFromBits(s, x))
            << Mnemonic(op) << " " << GetScalarInfo(s).text;
      }
    }
  }
}

TEST(Scalar, ConvertingAccess) {
  EXPECT_EQ(ConvertAccess(Scalar::kF16, Scalar::kF32, F(Scalar::kF16, 1.5)), F(Scalar::kF32, 1.5));
  EXPECT_EQ(ConvertAccess(Scalar::kBF16, Scalar::kU16, 0x3fc0), 0x3fc0);
  EXPECT_FALSE(CanConvertAccess(Scalar::kF32, Scalar::kI16));
}

// What C says of a quiet NaN holds of a signalling one too.
TEST(Scalar, PowerOfOneAndToZeroOfAnyNan) {
  for (const Scalar s : {Scalar::kF16, Scalar::kBF16, Scalar::kF32, Scalar::kF64}) {
    const int64_t one = BitsFromInt(s, 1), zero = BitsFromInt(s, 0);
    for (const int64_t nan : {MaxValue(s) + 1, BitsFromDouble(s, NAN)}) {
      EXPECT_EQ(EvalAlu(Op::kPow, s, std::vector{one, nan}, MulAcc::kFused), one);
      EXPECT_EQ(EvalAlu(Op::kPow, s, std::vector{nan, zero}, MulAcc::kFused), one);
    }
  }
}

}  // namespace
}  // namespace tg::interpret
