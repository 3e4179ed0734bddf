// Compares random expressions before and after simplification: equal values, values within bounds,
// known divisors divide, and a second simplification changes nothing.
#include <gtest/gtest.h>

#include <cstdlib>

#include "passes/rewrite/testing/random_expr.h"
#include "passes/simplify/simplify.h"

namespace tg::simplify {
namespace {

using ::tg::testing::Evaluate;
using ::tg::testing::RandomExpr;
using ::tg::testing::SameValue;
using ::tg::testing::ToText;
using ::tg::testing::Values;

// TG_FUZZ_ROUNDS multiplies the work, TG_FUZZ_SEED makes it other work.
int Rounds(int n) {
  const char* factor = std::getenv("TG_FUZZ_ROUNDS");
  return factor ? n * std::atoi(factor) : n;
}

std::string LeavesText(const Context& ctx, const Values& values) {
  std::string s;
  for (const auto& [u, lanes] : values) {
    s += ToText(ctx, u) + " =";
    for (int64_t v : lanes) s += " " + std::to_string(v);
    s += "; ";
  }
  return s;
}

// Values of all nodes below `u` lie in their bounds.
void CheckBounds(const Context& ctx, const UOp* root, const Values& values,
                 analysis::Bounds& bounds) {
  for (const auto& [u, lanes] : values) {
    if (!u->dtype.is_int_or_index() && !u->dtype.is_bool()) continue;
    const analysis::Interval v = bounds.Of(u);
    const int64_t d = u->dtype.is_bool() ? 1 : bounds.KnownDivisor(u);
    for (int64_t lane : lanes) {
      const bool big = u->dtype.scalar() == Scalar::kU64 && lane < 0;
      ASSERT_TRUE(big ? !v.HasHi() : v.Contains(lane))
          << ToText(ctx, u) << " = " << lane << " is not in [" << v.lo << ", " << v.hi << "] of "
          << ToText(ctx, root);
      const uint64_t rest = d == 0 ? static_cast<uint64_t>(lane)
                            : big  ? static_cast<uint64_t>(lane) % static_cast<uint64_t>(d)
                                   : static_cast<uint64_t>(lane % d);
      ASSERT_EQ(rest, 0u) << ToText(ctx, u) << " = " << lane << " is no multiple of " << d;
    }
  }
}

void RunOne(uint64_t seed, DType type, int size) {
  Context ctx;
  Module module;
  RandomExpr random(seed, ctx, module);
  const UOp* before = random.Make(type, size);
  // As the class Simplifier, which stops the program where rewriting does not end.
  analysis::Bounds bounds(ctx, &module);
  analysis::StructuralOrder order(ctx);
  rewrite::Rewriter algebra(AlgebraRules(), {ctx, bounds, order});
  rewrite::Rewriter rewriter(SimplifyRules(), {ctx, bounds, order, {}, &algebra});
  const auto result = rewriter.Rewrite(before);
  ASSERT_TRUE(result.ok()) << "seed " << seed << ": " << ToText(ctx, before) << "\n"
                           << result.status().message();
  const UOp* after = *result;
  ASSERT_EQ(after->dtype, before->dtype);
  rewrite::Rewriter again(SimplifyRules(), {ctx, bounds, order, {}, &algebra});
  const auto second = again.Rewrite(after);
  ASSERT_TRUE(second.ok()) << "seed " << seed << ": " << ToText(ctx, after) << "\n"
                           << second.status().message();
  EXPECT_EQ(*second, after) << "seed " << seed << ": " << ToText(ctx, before) << "\n -> "
                            << ToText(ctx, after) << "\n -> " << ToText(ctx, *second);
  std::vector<Values> all = random.AllLeaves(before, 300);
  if (all.empty()) {
    for (int i = 0; i < 40; ++i) all.push_back(random.RandomLeaves(i < 8));
  }
  for (const Values& leaves : all) {
    Values values = leaves;
    const auto want = Evaluate(before, values);
    if (!want) continue;  // an index overflowed: no meaning
    Values values_after = leaves;
    const auto got = Evaluate(after, values_after);
    ASSERT_TRUE(got && SameValue(type, *want, *got))
        << "seed " << seed << "\n"
        << ToText(ctx, before) << " = " << (*want)[0] << "\n-> " << ToText(ctx, after) << " = "
        << (got ? std::to_string((*got)[0]) : "overflow") << "\nwhere " << LeavesText(ctx, leaves)
        << "\n"
        << rewriter.HitReport();
    CheckBounds(ctx, before, values, bounds);
    if (::testing::Test::HasFatalFailure()) return;
    CheckBounds(ctx, after, values_after, bounds);
    if (::testing::Test::HasFatalFailure()) return;
  }
}

void RunMany(uint64_t first_seed, int rounds, DType type, int max_size) {
  if (const char* seed = std::getenv("TG_FUZZ_SEED")) {
    first_seed += std::strtoull(seed, nullptr, 10) * 1000000000;
  }
  for (int i = 0; i < rounds; ++i) {
    RunOne(first_seed + static_cast<uint64_t>(i), type, 1 + i % max_size);
    if (::testing::Test::HasFatalFailure() || ::testing::Test::HasNonfatalFailure()) return;
  }
}

TEST(SimplifyFuzz, Index) { RunMany(1, Rounds(6000), kIndex, 12); }
TEST(SimplifyFuzz, Bool) { RunMany(1000000, Rounds(4000), kBool, 10); }
TEST(SimplifyFuzz, Ints) {
  for (Scalar s : {Scalar::kI8, Scalar::kU8, Scalar::kI16, Scalar::kU16, Scalar::kI32, Scalar::kU32,
                   Scalar::kI64, Scalar::kU64}) {
    RunMany(2000000, Rounds(700), s, 8);
    if (HasFailure()) return;
  }
}
TEST(SimplifyFuzz, Floats) {
  for (Scalar s : {Scalar::kF16, Scalar::kBF16, Scalar::kF32, Scalar::kF64}) {
    RunMany(3000000, Rounds(700), s, 8);
    if (HasFailure()) return;
  }
}
TEST(SimplifyFuzz, Vectors) {
  RunMany(4000000, Rounds(1500), DType(Scalar::kIndex, 4), 10);
  RunMany(5000000, Rounds(1500), DType(Scalar::kI32, 4), 8);
  RunMany(6000000, Rounds(1500), DType(Scalar::kF32, 4), 8);
}

}  // namespace
}  // namespace tg::simplify
