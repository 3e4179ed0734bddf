// Simplifies addresses that movement ops make, for random shapes. The result without the rules must
// equal the result of the rules, be final, and have the same value everywhere.
#include "passes/simplify/id_sums.h"

#include <gtest/gtest.h>

#include <random>

#include "ir/builder.h"
#include "passes/rewrite/testing/random_expr.h"
#include "passes/simplify/simplify.h"

namespace tg::simplify {
namespace {

using ::tg::testing::Evaluate;
using ::tg::testing::ToText;
using ::tg::testing::Values;

class Addresses {
 public:
  explicit Addresses(uint64_t seed) : rng_(seed) {
    const int64_t count = 1 + Below(4);
    for (int64_t i = 0; i < count; ++i) {
      const int64_t size = 1 + Below(8);
      sizes_.push_back(size);
      switch (Below(3)) {
        case 0:
          ids_.push_back(b_.Range(b_.Index(size)));
          break;
        case 1:
          ids_.push_back(b_.Special(static_cast<SpecialName>(i % 3), b_.Index(size)));
          break;
        default:
          ids_.push_back(b_.Unroll(i, size));
      }
    }
  }

  // Sums of ids, some shifted or reversed, and quotients and remainders of such sums.
  const UOp* Make(int depth) {
    const UOp* sum = b_.Index(Below(4) == 0 ? Below(20) : 0);
    for (size_t i = 0; i < ids_.size(); ++i) {
      const UOp* id = depth > 0 && Below(3) == 0 ? Make(depth - 1) : ids_[i];
      if (Below(6) == 0) id = b_.Sub(b_.Index(sizes_[i] - 1), id);
      sum = b_.Add(b_.Mul(sum, b_.Index(Below(3) == 0 ? 1 + Below(9) : sizes_[i])), id);
    }
    const int64_t by = Below(2) == 0 ? sizes_.back() : 1 + Below(40);
    if (Below(2) == 0) sum = b_.Alu(Op::kFloorDiv, {sum, b_.Index(by)});
    if (Below(2) == 0) sum = b_.Alu(Op::kFloorMod, {sum, b_.Index(by)});
    return sum;
  }

  // Calls `see` with values for each combination of the ids.
  template <typename Fn>
  void ForAll(Fn see) const {
    std::vector<int64_t> at(ids_.size(), 0);
    while (true) {
      Values values;
      for (size_t i = 0; i < ids_.size(); ++i) values[ids_[i]] = {at[i]};
      see(values);
      size_t i = 0;
      while (i < at.size() && ++at[i] == sizes_[i]) at[i++] = 0;
      if (i == at.size()) return;
    }
  }

  Context ctx_;

 private:
  int64_t Below(int64_t n) { return static_cast<int64_t>(rng_() % static_cast<uint64_t>(n)); }

  std::mt19937_64 rng_;
  Builder b_{ctx_};
  std::vector<const UOp*> ids_;
  std::vector<int64_t> sizes_;
};

TEST(IdSums, AreWhatTheRulesFind) {
  int found = 0;
  constexpr int kRounds = 3000;
  for (uint64_t seed = 0; seed < kRounds; ++seed) {
    Addresses random(seed);
    const UOp* u = random.Make(2);
    Simplifier rules(random.ctx_);
    analysis::Bounds bounds(random.ctx_);
    analysis::StructuralOrder order(random.ctx_);
    rewrite::Rewriter told(SimplifyRules(), {random.ctx_, bounds, order});
    const UOp* sum = SimplifyIdSum(u, told);
    if (!sum) continue;
    ++found;
    const auto expected = rules.rewriter().Rewrite(u);
    ASSERT_TRUE(expected.ok());
    EXPECT_EQ(sum, *expected) << "seed " << seed << ": " << ToText(random.ctx_, u) << "\n is "
                              << ToText(random.ctx_, sum) << "\n not "
                              << ToText(random.ctx_, *expected);
    EXPECT_EQ(told.Find(u), sum);
    for (const UOp* part : PostOrder(sum)) {
      if (!told.Find(part)) continue;
      EXPECT_EQ(told.Find(part), part);
      EXPECT_EQ(*rules.rewriter().Rewrite(part), part) << ToText(random.ctx_, part);
    }
    random.ForAll([&](const Values& leaves) {
      Values a = leaves, c = leaves;
      EXPECT_EQ(Evaluate(u, a), Evaluate(sum, c)) << "seed " << seed;
    });
  }
  EXPECT_GT(found, kRounds / 4);
  EXPECT_LT(found, kRounds);
}

TEST(IdSums, LeaveTheRestToTheRules) {
  Context ctx;
  Builder b(ctx);
  Simplifier simplify(ctx);
  const UOp* r = b.Range(b.Index(10));
  const UOp* one = b.Range(b.Index(1));
  const UOp* n = b.Range(b.Alu(Op::kFloorDiv, {r, b.Index(2)}));
  for (const UOp* u :
       {b.Alu(Op::kFloorDiv, {r, b.Index(3)}), b.Add(r, one), b.Add(r, n), b.Mul(r, r),
        b.Mul(b.Mul(r, b.Index(INT64_MAX)), b.Index(4)), b.Alu(Op::kFloorMod, {r, b.Index(0)}),
        b.Cast(b.Add(b.Cast(r, kI32), b.ConstInt(kI32, 1)), kIndex), b.Lt(r, b.Index(4))}) {
    EXPECT_EQ(SimplifyIdSum(u, simplify.rewriter()), nullptr) << ToText(ctx, u);
  }
}

}  // namespace
}  // namespace tg::simplify
