// Tests which differences the flags of a module allow: values that rules under a flag give
// (passes/simplify/float_rules.h) do not count as differences, other values do.
#include <cmath>
#include <string>

#include "gtest/gtest.h"
#include "ir/interpret/allowed.h"
#include "ir/interpret/compare_values.h"
#include "ir/interpret/test_util.h"
#include "ir/value.h"

namespace tg::interpret {
namespace {

constexpr double kInfinity = INFINITY;

// Whether y = `actual` is a right result of `lines`, which compute %r of %x (and %z) and %one = 1.
bool IsAllowed(const std::string& flags, const std::string& lines, double x, double actual,
               double z = 0) {
  const auto module = ParseOrFail(
      "tg 1\nmodule @m {flags = [" + flags +
      "]}\nbuffer @x : f32[1] input\nbuffer @z : f32[1] input\nbuffer @y : f32[1] output\n\n"
      "graph @main {\n  %x = buffer @x : f32\n  %z = buffer @z : f32\n"
      "  %one = const 1.0 : f32\n" +
      lines + "  sink %r -> @y\n}\n");
  if (!module) return false;
  InterpretOptions options = OptionsFor(*module);
  options.track_error = true;
  const auto expected =
      Interpret(*module, "main", {{"x", F32({1}, {x})}, {"z", F32({1}, {z})}}, {}, options);
  if (!expected.ok()) {
    ADD_FAILURE() << expected.status();
    return false;
  }
  return !Difference(expected->at("y"), F32({1}, {actual}));
}

const std::string kRatio = "  %w = add %x, %one : f32\n  %r = div %x, %w : f32\n";
const std::string kScaledRatio =
    "  %w = add %x, %one : f32\n  %v = recip %w : f32\n  %p = mul %v, %z : f32\n"
    "  %r = mul %x, %p : f32\n";
const std::string kOtherRatio = "  %w = add %x, %x : f32\n  %r = div %x, %w : f32\n";

TEST(FlagError, InfRatio) {
  const std::string flag = "\"inf-ratio\"";
  EXPECT_TRUE(IsAllowed(flag, kRatio, kInfinity, 1));
  EXPECT_FALSE(IsAllowed("", kRatio, kInfinity, 1));
  EXPECT_FALSE(IsAllowed("\"no-contract\"", kRatio, kInfinity, 1));
  EXPECT_TRUE(IsAllowed(flag, kScaledRatio, kInfinity, 3, 3));
  EXPECT_FALSE(IsAllowed("", kScaledRatio, kInfinity, 3, 3));
  // 1 - 1/(x + 1) rounds otherwise, by little.
  for (const float x : {0.7f, -0.45f, 1e-4f, 1e6f}) {
    const float other = 1.0f - 1.0f / (x + 1.0f);
    EXPECT_TRUE(IsAllowed(flag, kRatio, x, other)) << x;
    EXPECT_FALSE(IsAllowed(flag, kRatio, x, other + 1e-5f)) << x;
    EXPECT_TRUE(IsAllowed(flag, kScaledRatio, x, other * 3.0f, 3)) << x;
    EXPECT_FALSE(IsAllowed(flag, kScaledRatio, x, other * 3.0f + 3e-5f, 3)) << x;
  }
  EXPECT_FALSE(IsAllowed("", kRatio, 1e-4f, 1.0f - 1.0f / (1e-4f + 1.0f)));
  // The flag says nothing of another quotient.
  EXPECT_FALSE(IsAllowed(flag, kOtherRatio, kInfinity, 1));
  EXPECT_FALSE(IsAllowed(flag, kOtherRatio, 0.7, 0.50000006));
}

TEST(FlagError, ZeroMul) {
  const std::string flag = "\"zero-mul\"", product = "  %r = mul %x, %z : f32\n";
  for (const double x : {kInfinity, -kInfinity, double{NAN}, -3.0}) {
    EXPECT_TRUE(IsAllowed(flag, product, x, 0, 0)) << x;
    EXPECT_FALSE(IsAllowed("", product, x, 0, 0)) << x;
  }
  EXPECT_TRUE(IsAllowed(flag, product, -3, -0.0, 0));
  EXPECT_FALSE(IsAllowed(flag, product, -3, 1e-30, 0));
  EXPECT_FALSE(IsAllowed(flag, product, 3, -0.0, 0));  // no rule gives -0
  EXPECT_FALSE(IsAllowed(flag, product, kInfinity, 0, 2));
  EXPECT_FALSE(IsAllowed(flag, product, NAN, 0, 2));
  const std::string difference = "  %r = sub %x, %x : f32\n";
  EXPECT_TRUE(IsAllowed(flag, difference, kInfinity, 0));
  EXPECT_FALSE(IsAllowed("", difference, kInfinity, 0));
  const std::string sum = "  %n = neg %x : f32\n  %r = add %n, %x : f32\n";
  for (const double x : {kInfinity, double{NAN}}) {
    EXPECT_TRUE(IsAllowed(flag, sum, x, 0)) << x;
    EXPECT_FALSE(IsAllowed("", sum, x, 0)) << x;
  }
  EXPECT_FALSE(IsAllowed(flag, sum, 1, 1));
}

TEST(FlagError, ComparisonOfWhatMayBeZero) {
  const std::string flag = "\"zero-mul\"";
  const std::string less =
      "  %p = mul %x, %z : f32\n  %c = cmplt %p, %one : bool\n  %r = cast %c : f32\n";
  EXPECT_TRUE(IsAllowed(flag, less, kInfinity, 1, 0));
  EXPECT_FALSE(IsAllowed("", less, kInfinity, 1, 0));
  EXPECT_FALSE(IsAllowed(flag, less, kInfinity, 1, 2));
  // What the comparison selects may be the other one, also where one of them is NaN.
  const std::string selected =
      "  %p = mul %x, %z : f32\n  %c = cmplt %p, %one : bool\n  %r = where %c, %x, %p : f32\n";
  EXPECT_TRUE(IsAllowed(flag, selected, kInfinity, kInfinity, 0));
  EXPECT_FALSE(IsAllowed("", selected, kInfinity, kInfinity, 0));
}

TEST(FlagError, NoNan) {
  const std::string flag = "\"no-nan\"", ratio = "  %r = div %x, %x : f32\n";
  EXPECT_TRUE(IsAllowed(flag, ratio, 0, 1));
  EXPECT_TRUE(IsAllowed(flag, ratio, kInfinity, 1));
  EXPECT_FALSE(IsAllowed("", ratio, 0, 1));
  EXPECT_FALSE(IsAllowed(flag, ratio, 2, 1.1));
  const std::string differs = "  %b = cmpne %x, %x : bool\n  %r = cast %b : f32\n";
  EXPECT_TRUE(IsAllowed(flag, differs, NAN, 0));
  EXPECT_FALSE(IsAllowed("", differs, NAN, 0));
  EXPECT_FALSE(IsAllowed(flag, differs, 1, 1));
  // Also by way of a number, which may then be 0 or 1.
  const std::string twice =
      "  %b = cmpne %x, %x : bool\n  %f = cast %b : f32\n  %c = cast %f : bool\n"
      "  %r = cast %c : f32\n";
  EXPECT_TRUE(IsAllowed(flag, twice, NAN, 0));
  EXPECT_FALSE(IsAllowed("", twice, NAN, 0));
  EXPECT_FALSE(IsAllowed(flag, twice, 1, 1));
  // If one of two numbers wraps, the difference of the results is greater than theirs.
  const std::string made = "  %b = cmpne %x, %x : bool\n  %c = cast %b : u32\n";
  for (const std::string wraps : {"  %w = neg %c : u32\n", "  %w = sub %zero, %c : u32\n"}) {
    const std::string lines = "  %zero = const 0 : u32\n" + made + wraps + "  %r = cast %w : f32\n";
    EXPECT_TRUE(IsAllowed(flag, lines, NAN, 0)) << lines;
    EXPECT_FALSE(IsAllowed("", lines, NAN, 0)) << lines;
    EXPECT_FALSE(IsAllowed(flag, lines, 1, 1)) << lines;
  }
  const std::string sum = made + "  %w = add %c, %c : u32\n  %r = cast %w : f32\n";
  EXPECT_TRUE(IsAllowed(flag, sum, NAN, 0));
  EXPECT_FALSE(IsAllowed(flag, sum, NAN, 9));
}

TEST(FlagError, FastMath) {
  const std::string flag = "\"fast-math\"";
  // (x + 1e8) - 1e8 is x.
  const std::string sum =
      "  %c = const 1e8 : f32\n  %s = add %x, %c : f32\n  %r = sub %s, %c : f32\n";
  EXPECT_TRUE(IsAllowed(flag, sum, 3, 3));
  EXPECT_FALSE(IsAllowed("", sum, 3, 3));
  EXPECT_FALSE(IsAllowed(flag, sum, 3, 100));
  // 1/(1/x) is x, also for an x whose reciprocal overflows.
  const std::string twice = "  %s = recip %x : f32\n  %r = recip %s : f32\n";
  EXPECT_TRUE(IsAllowed(flag, twice, 3e-45, 3e-45));
  EXPECT_FALSE(IsAllowed("", twice, 3e-45, 3e-45));
  EXPECT_FALSE(IsAllowed(flag, twice, 2, 2.001));
  // (0.5 * x) * z is 0.5 * (x * z), which overflows for less.
  const std::string product =
      "  %c = const 0.5 : f32\n  %s = mul %c, %x : f32\n  %r = mul %s, %z : f32\n";
  EXPECT_TRUE(IsAllowed(flag, product, 2e38f, INFINITY, 3));
  EXPECT_FALSE(IsAllowed("", product, 2e38f, INFINITY, 3));
  EXPECT_FALSE(IsAllowed(flag, product, 2e30f, INFINITY, 3));
  // (16 * x) * z is 16 * (x * z), which rounds below the normal numbers.
  const std::string small =
      "  %c = const 16.0 : f32\n  %s = mul %c, %x : f32\n  %r = mul %s, %z : f32\n";
  EXPECT_TRUE(IsAllowed(flag, small, 0x1p-76, 0, 0x1p-74));
  EXPECT_FALSE(IsAllowed("", small, 0x1p-76, 0, 0x1p-74));
  EXPECT_FALSE(IsAllowed(flag, small, 0x1p-76, 0x1p-142, 0x1p-74));
  EXPECT_FALSE(IsAllowed(flag, small, 0x1p-60, 0x1.001p-116, 0x1p-60));
  // 0/z is 0 times the reciprocal of z, which may be infinite.
  const std::string quotient = "  %r = div %x, %z : f32\n";
  EXPECT_TRUE(IsAllowed(flag, quotient, 0, NAN, 1e-42));
  EXPECT_FALSE(IsAllowed("", quotient, 0, NAN, 1e-42));
  EXPECT_FALSE(IsAllowed(flag, quotient, 0, NAN, 1e-30));
  // x + 0 is x for -0 too.
  const std::string zero = "  %c = const 0.0 : f32\n  %r = add %x, %c : f32\n";
  EXPECT_TRUE(IsAllowed(flag, zero, -0.0, -0.0));
  EXPECT_FALSE(IsAllowed("", zero, -0.0, -0.0));
}

// Without bounds, as of kernels past the stages that have them.
TEST(FlagError, FastMathPowerOfMinusInfinity) {
  const std::string flag = "\"fast-math\"";
  const std::string power = "  %h = const -0.5 : f32\n  %r = pow %x, %h : f32\n";
  EXPECT_TRUE(IsAllowed(flag, power, -kInfinity, NAN));
  EXPECT_FALSE(IsAllowed("", power, -kInfinity, NAN));
  EXPECT_FALSE(IsAllowed(flag, power, kInfinity, NAN));
}

// A product of halves may keep what rounding takes from it, and may be finite where it overflows.
TEST(FlagError, WideProducts) {
  const std::string square =
      "  %h = cast %x : f16\n  %p = mul %h, %h : f16\n  %r = cast %p : f32\n";
  const std::string flag = "\"wide-products\"";
  const double x = 1 + 0x1p-10;  // its square needs 21 bits
  EXPECT_TRUE(IsAllowed(flag, square, x, x * x));
  EXPECT_FALSE(IsAllowed("", square, x, x * x));
  EXPECT_FALSE(IsAllowed(flag, square, x, x * x + 0x1p-8));
  EXPECT_TRUE(IsAllowed(flag, square, 300, 90000));
  EXPECT_FALSE(IsAllowed("", square, 300, 90000));
}

// So may any half that an op makes from wider values.
TEST(FlagError, WideHalves) {
  const std::string third = "  %h = cast %x : f16\n  %r = cast %h : f32\n";
  const std::string flag = "\"wide-halves\"";
  const double x = 1 + 0x1p-12;
  EXPECT_TRUE(IsAllowed(flag, third, x, x));
  EXPECT_FALSE(IsAllowed("", third, x, x));
  EXPECT_FALSE(IsAllowed("\"wide-products\"", third, x, x));
  EXPECT_FALSE(IsAllowed(flag, third, x, x + 0x1p-9));
}

// The factors of products of f32 may be rounded to ten bits of mantissa, to the nearest or towards
// zero.
TEST(FlagError, Tf32) {
  const std::string square = "  %r = mul %x, %x : f32\n", sum = "  %r = add %x, %x : f32\n";
  const std::string flag = "\"tf32\"";
  const double x = 1 + 0x1p-11 - 0x1p-20, above = x * (1 + 0x1p-14);
  EXPECT_TRUE(IsAllowed(flag, square, x, 1));
  EXPECT_FALSE(IsAllowed("", square, x, 1));
  EXPECT_FALSE(IsAllowed(flag, square, x, 1 - 0x1p-8));
  EXPECT_FALSE(IsAllowed(flag, sum, x, 2 * above));
  EXPECT_TRUE(IsAllowed(flag, "  %r = mul %x, %z : f32\n", 0x1.fffp127, kInfinity, 0.25));
  EXPECT_FALSE(IsAllowed(flag, "  %r = mul %x, %z : f32\n", 0x1.ff8p127, kInfinity, 0.25));
  EXPECT_TRUE(IsAllowed(flag, "  %r = mul %x, %z : f32\n", 0x1p-138, 0, 0x1p20));
  EXPECT_FALSE(IsAllowed(flag, "  %r = mul %x, %z : f32\n", 0x1p-130, 0, 0x1p20));
}

TEST(Allowed, FlagsWhereNothingIsTracked) {
  const auto differ = [](ModuleFlags flags, double expected, double actual) {
    return Difference(F32({1}, {expected}), F32({1}, {actual}), {.ulps = 4, .flags = flags})
        .has_value();
  };
  EXPECT_FALSE(differ({ModuleFlag::kInfRatio}, NAN, 1));
  EXPECT_FALSE(differ({ModuleFlag::kZeroMul}, NAN, 0));
  EXPECT_TRUE(differ({ModuleFlag::kNoContract}, NAN, 0));
  EXPECT_TRUE(differ({}, NAN, 0));
  EXPECT_TRUE(differ({ModuleFlag::kInfRatio}, 1, NAN));
  EXPECT_TRUE(differ({ModuleFlag::kZeroMul}, INFINITY, 1));
  EXPECT_FALSE(differ({ModuleFlag::kFastMath}, INFINITY, 1));
  EXPECT_TRUE(differ({ModuleFlag::kFastMath}, 1, 2));
}

TEST(Allowed, AsAMultiple) {
  const auto of = [](double expected, double actual, double allowed) {
    return OfAllowed(Scalar::kF64, BitsFromDouble(Scalar::kF64, expected),
                     BitsFromDouble(Scalar::kF64, actual), allowed);
  };
  EXPECT_EQ(of(1, 3, 4), 0.5);
  EXPECT_EQ(of(1, 3, 0), HUGE_VAL);
  EXPECT_EQ(of(1, NAN, INFINITY), 0);
  EXPECT_EQ(of(1, NAN, 1), HUGE_VAL);
  EXPECT_EQ(of(INFINITY, 1, INFINITY), 0);
  EXPECT_EQ(of(0.0, -0.0, 1), 0);
  EXPECT_EQ(of(0.0, -0.0, 0), HUGE_VAL);
}

}  // namespace
}  // namespace tg::interpret
