// Conversions to half and bfloat16, and arithmetic in them, round to nearest even exactly once.
// Compares the whole pipeline on the device that TG_DEVICE names (default: PoCL, which has
// no half) and the interpreter with MPFR at the format's precision and range.
#include <mpfr.h>

#include <cmath>
#include <cstdlib>
#include <random>

#include "gtest/gtest.h"
#include "ir/float_format.h"
#include "ir/value.h"
#include "tools/accuracy/test_evaluator.h"

namespace tg::accuracy {
namespace {

using Kind = Implementation::Kind;

// Rounds to the numbers of a format with MPFR.
class Format {
 public:
  explicit Format(Scalar s) : scalar_(s), format_(FormatOf(s)) {
    mpfr_inits2(200, a_, b_, nullptr);
    mpfr_init2(r_, format_.mantissa_bits + 1);
  }
  ~Format() { mpfr_clears(a_, b_, r_, nullptr); }

  int64_t Of(double v) {
    mpfr_set_d(a_, v, MPFR_RNDN);
    return Rounded([&] { return mpfr_set(r_, a_, MPFR_RNDN); });
  }
  int64_t Of(int64_t v, bool is_unsigned) {
    if (is_unsigned) {
      mpfr_set_ui(a_, static_cast<uint64_t>(v), MPFR_RNDN);
    } else {
      mpfr_set_si(a_, v, MPFR_RNDN);
    }
    return Rounded([&] { return mpfr_set(r_, a_, MPFR_RNDN); });
  }
  int64_t Of(Op op, int64_t x, int64_t y) {
    mpfr_set_d(a_, DoubleFromBits(scalar_, x), MPFR_RNDN);
    mpfr_set_d(b_, DoubleFromBits(scalar_, y), MPFR_RNDN);
    return Rounded([&] {
      switch (op) {
        case Op::kAdd:
          return mpfr_add(r_, a_, b_, MPFR_RNDN);
        case Op::kSub:
          return mpfr_sub(r_, a_, b_, MPFR_RNDN);
        case Op::kMul:
          return mpfr_mul(r_, a_, b_, MPFR_RNDN);
        case Op::kSqrt:
          return mpfr_sqrt(r_, a_, MPFR_RNDN);
        case Op::kRecip:
          return mpfr_ui_div(r_, 1, a_, MPFR_RNDN);
        default:
          return mpfr_div(r_, a_, b_, MPFR_RNDN);
      }
    });
  }

 private:
  // Rounds the value that `compute` puts into r_ to the format's range and subnormals.
  template <typename F>
  int64_t Rounded(F&& compute) {
    const mpfr_exp_t low = mpfr_get_emin(), high = mpfr_get_emax();
    const int ternary = compute();
    mpfr_set_emin(format_.min_exponent() - format_.mantissa_bits + 1);
    mpfr_set_emax(format_.bias() + 1);
    mpfr_subnormalize(r_, mpfr_check_range(r_, ternary, MPFR_RNDN), MPFR_RNDN);
    const double v = mpfr_get_d(r_, MPFR_RNDN);
    mpfr_set_emin(low);
    mpfr_set_emax(high);
    return BitsFromDouble(scalar_, v);  // the conversion is exact
  }

  const Scalar scalar_;
  const FloatFormat format_;
  mpfr_t a_, b_, r_;
};

bool IsNan(Scalar s, int64_t bits) { return std::isnan(DoubleFromBits(s, bits)); }

// Runs the function on all implementations and compares bits; any NaN equals a NaN.
void Expect(const Function& function, Scalar from, const std::vector<int64_t>& x,
            const std::vector<int64_t>& y, const std::vector<int64_t>& expected,
            bool in_every_way = true) {
  const Scalar to = function.result == Scalar::kVoid ? from : function.result;
  for (const Implementation& by :
       {Implementation{Kind::kInterpreter, false, true}, Implementation{Kind::kDevice, false, true},
        Implementation{Kind::kDevice, true, true}, Implementation{Kind::kOwn, false, true}}) {
    if (!in_every_way && (by.scalars || by.kind == Kind::kOwn)) continue;
    const auto results = TestEvaluator().Run(function, from, by, x, y);
    ASSERT_TRUE(results.ok()) << results.status().message();
    int wrong = 0;
    for (size_t i = 0; i < x.size() && wrong < 3; ++i) {
      const int64_t got = (*results)[i], want = expected[i];
      if (got == want || (IsFloat(to) && IsNan(to, got) && IsNan(to, want))) continue;
      ++wrong;
      ADD_FAILURE() << function.name << " by " << by.Name() << " of " << std::hex << x[i] << " and "
                    << (y.empty() ? 0 : y[i]) << " gives " << got << ", not " << want;
    }
  }
}

Function CastTo(Scalar to) {
  Function f;
  f.name = "cast";
  f.body = "  %r = cast %x : " + std::string(GetScalarInfo(to).text) + "\n";
  f.result = to;
  return f;
}

class Narrow : public testing::TestWithParam<Scalar> {};

TEST_P(Narrow, WidensEveryValueExactly) {
  const Scalar s = GetParam();
  for (const Scalar to : {Scalar::kF32, Scalar::kF64}) {
    std::vector<int64_t> x, expected;
    for (int64_t i = 0; i < 65536; ++i) {
      x.push_back(i);
      expected.push_back(BitsFromDouble(to, DoubleFromBits(s, i)));
    }
    Expect(CastTo(to), s, x, {}, expected);
  }
}

// All numbers of the format, all midpoints between neighbours, and the neighbours of both. For f64
// also values that f32 would first round to a midpoint.
TEST_P(Narrow, RoundsFloatsOnce) {
  const Scalar s = GetParam();
  Format format(s);
  for (const Scalar from : {Scalar::kF32, Scalar::kF64}) {
    std::vector<int64_t> x;
    const auto add = [&](double v) {
      x.push_back(BitsFromDouble(from, v));
      x.push_back(BitsFromDouble(from, -v));
    };
    for (int64_t i = 0; i < 32768; ++i) {
      const double v = DoubleFromBits(s, i);
      if (!std::isfinite(v)) continue;
      const double next = DoubleFromBits(s, i + 1);
      const double middle = v + (std::isinf(next) ? v - DoubleFromBits(s, i - 1) : next - v) / 2;
      const int64_t bits = BitsFromDouble(from, middle);
      add(v);
      for (int64_t d : {-1, 0, 1}) add(DoubleFromBits(from, bits + d));
      if (from == Scalar::kF64) {
        add(middle * (1 + 0x1p-40));
        add(middle * (1 - 0x1p-40));
      }
    }
    std::mt19937_64 random(1);
    for (int i = 0; i < 50000; ++i) {
      x.push_back(WrapInt(BitsType(from), static_cast<int64_t>(random())));
    }
    std::vector<int64_t> expected;
    for (int64_t bits : x) expected.push_back(format.Of(DoubleFromBits(from, bits)));
    Expect(CastTo(s), from, x, {}, expected);
  }
}

TEST_P(Narrow, RoundsIntegersOnce) {
  const Scalar s = GetParam();
  Format format(s);
  std::mt19937_64 random(2);
  for (const Scalar from :
       {Scalar::kI16, Scalar::kU16, Scalar::kI32, Scalar::kU32, Scalar::kI64, Scalar::kU64}) {
    std::vector<int64_t> x, expected;
    const auto add = [&](uint64_t v) {
      x.push_back(WrapInt(from, static_cast<int64_t>(v)));
      expected.push_back(format.Of(x.back(), IsUnsigned(from)));
    };
    for (uint64_t v = 0; v < 5000; ++v) add(v * 37);
    for (int i = 0; i < 20000; ++i) {
      // An integer with one digit more than the format has, and its neighbours.
      const int top = static_cast<int>(random() % 64), digits = FormatOf(s).mantissa_bits + 1;
      const uint64_t middle =
          ((1ull << digits) | (random() & ((1ull << digits) - 1))) << (63 - digits) >> (63 - top);
      for (const uint64_t v :
           {middle, middle + 1, middle - 1, middle + (uint64_t{1} << random() % 64)}) {
        add(v);
        add(-v);
      }
    }
    Expect(CastTo(s), from, x, {}, expected);
  }
}

TEST_P(Narrow, RoundsEveryOpOnce) {
  const Scalar s = GetParam();
  Format format(s);
  std::mt19937_64 random(3);
  std::vector<int64_t> special, x, y;
  for (const double v : {0.0, 1.0, 1.5, 2.0, 3.0, 0x1p-14, 0x1p-24, 0x1p-133, HUGE_VAL, 65504.0}) {
    for (int64_t d : {-1, 0, 1}) {
      const int64_t bits = (BitsFromDouble(s, v) + d) & 0x7fff;
      special.push_back(bits);
      special.push_back(bits | 0x8000);
    }
  }
  special.push_back(BitsFromDouble(s, NAN));
  for (int64_t a : special) {
    for (int64_t b : special) {
      x.push_back(a);
      y.push_back(b);
    }
  }
  for (int i = 0; i < 100000; ++i) {
    x.push_back(static_cast<int64_t>(random() & 0xffff));
    // Half of the second operands have a magnitude close to the first.
    const int64_t near = x.back() ^ static_cast<int64_t>(random() & 0x83ff);
    y.push_back(i % 2 ? near : static_cast<int64_t>(random() & 0xffff));
  }
  for (const Op op : {Op::kAdd, Op::kSub, Op::kMul, Op::kDiv, Op::kSqrt, Op::kRecip}) {
    Function f;
    f.name = Mnemonic(op);
    f.arity = GetOpInfo(op).max_sources;
    f.body = "  %r = " + f.name + (f.arity == 2 ? " %x, %y" : " %x") + " : $t\n";
    std::vector<int64_t> expected;
    for (size_t i = 0; i < x.size(); ++i) expected.push_back(format.Of(op, x[i], y[i]));
    Expect(f, s, x, f.arity == 2 ? y : std::vector<int64_t>(), expected);
  }
}

// The value between two ops is rounded too, even if the compiler could continue in f32.
TEST_P(Narrow, RoundsBetweenOps) {
  const Scalar s = GetParam();
  Format format(s);
  Function f;
  f.name = "x*y + x, then /y";
  f.arity = 2;
  f.body =
      "  %0 = mul %x, %y : $t\n  %1 = add %0, %x : $t\n  %2 = sub %1, %y : $t\n"
      "  %r = div %2, %y : $t\n";
  std::mt19937_64 random(4);
  std::normal_distribution<double> normal(0, 3);
  std::vector<int64_t> x, y, expected;
  for (int i = 0; i < 100000; ++i) {
    x.push_back(BitsFromDouble(s, normal(random)));
    y.push_back(BitsFromDouble(s, normal(random)));
    const int64_t sum = format.Of(Op::kAdd, format.Of(Op::kMul, x[i], y[i]), x[i]);
    expected.push_back(format.Of(Op::kDiv, format.Of(Op::kSub, sum, y[i]), y[i]));
  }
  Expect(f, s, x, y, expected);
}

INSTANTIATE_TEST_SUITE_P(Types, Narrow, testing::Values(Scalar::kF16, Scalar::kBF16),
                         [](const auto& info) {
                           return std::string(GetScalarInfo(info.param).text);
                         });

// Out-of-range conversions have one result on all implementations.
TEST(FloatToInteger, TruncatesAndSaturates) {
  for (const Scalar from : {Scalar::kF16, Scalar::kBF16, Scalar::kF32, Scalar::kF64}) {
    for (const Scalar to : {Scalar::kI8, Scalar::kU8, Scalar::kI16, Scalar::kU16, Scalar::kI32,
                            Scalar::kU32, Scalar::kI64, Scalar::kU64}) {
      const int bits = BitWidth(to) - (IsSigned(to) ? 1 : 0);
      const long double high = std::ldexp(1.0L, bits) - 1, low = IsSigned(to) ? -high - 1 : 0;
      std::vector<int64_t> x, expected;
      const auto add = [&](double v) {
        x.push_back(BitsFromDouble(from, v));
        const long double t = std::trunc(static_cast<long double>(DoubleFromBits(from, x.back())));
        const long double clamped = std::isnan(t) ? 0 : t < low ? low : t > high ? high : t;
        expected.push_back(IsUnsigned(to) ? static_cast<int64_t>(static_cast<uint64_t>(clamped))
                                          : static_cast<int64_t>(clamped));
      };
      for (const double v : {0.0, 0.5, 0.999, 1.0, 1.5, 2.5, 100.7, 1e5, 1e10, 1e20, 1e300,
                             static_cast<double>(INFINITY), static_cast<double>(NAN)}) {
        add(v);
        add(-v);
      }
      for (int e = 0; e <= 65; ++e) {
        for (const double f : {1 - 0x1p-9, 1.0, 1 + 0x1p-9, 1 - 0x1p-40, 1 - 0x1p-52}) {
          add(std::ldexp(f, e));
          add(-std::ldexp(f, e));
        }
      }
      Expect(CastTo(to), from, x, {}, expected, /*in_every_way=*/false);
    }
  }
}

}  // namespace
}  // namespace tg::accuracy
