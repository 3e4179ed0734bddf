#include "passes/analysis/dim_proof.h"

#include "gtest/gtest.h"
#include "ir/builder.h"

namespace tg::analysis {
namespace {

class DimProofTest : public testing::Test {
 protected:
  DimProofTest() : b_(context_) {
    module_.vars.push_back({.name = "n", .min = 1, .max = 64});
    module_.vars.push_back({.name = "m", .min = 1, .max = 64});
  }
  const UOp* I(int64_t v) { return b_.Index(v); }
  const UOp* Half(const UOp* u) { return b_.Alu(Op::kFloorDiv, {u, I(2)}); }
  DimExpr Expr(const UOp* u) { return *DimExpr::FromNode(context_, u); }
  bool Equal(const UOp* a, const UOp* b) { return AreAlwaysEqual(Expr(a), Expr(b)); }
  bool AtMost(const UOp* a, const UOp* b) { return IsAlwaysAtMost(module_, Expr(a), Expr(b)); }

  Module module_;
  Context context_;
  Builder b_;
  const UOp* n_ = b_.Var("n");
  const UOp* m_ = b_.Var("m");
};

TEST_F(DimProofTest, MultipliesOut) {
  // (n + 2) * (3 * m) = 3 * n * m + 6 * m
  const UOp* product = b_.Mul(b_.Add(n_, I(2)), b_.Mul(I(3), m_));
  EXPECT_TRUE(Equal(product, b_.Add(b_.Mul(b_.Mul(m_, n_), I(3)), b_.Mul(m_, I(6)))));
  EXPECT_FALSE(Equal(product, b_.Add(b_.Mul(b_.Mul(m_, n_), I(3)), b_.Mul(n_, I(6)))));
}

TEST_F(DimProofTest, DividesWhatIsAMultiple) {
  // (4 * n + 7) / 2 = 2 * n + 3
  EXPECT_TRUE(Equal(Half(b_.Add(b_.Mul(n_, I(4)), I(7))), b_.Add(b_.Mul(n_, I(2)), I(3))));
  EXPECT_TRUE(Equal(Half(b_.Add(n_, I(3))), b_.Add(Half(b_.Add(n_, I(1))), I(1))));
  EXPECT_FALSE(Equal(Half(b_.Add(n_, I(3))), b_.Add(Half(n_), I(1))));
  // Twice a half is n only if n is even.
  EXPECT_FALSE(Equal(b_.Mul(Half(n_), I(2)), n_));
}

TEST_F(DimProofTest, BoundsQuotients) {
  EXPECT_TRUE(AtMost(b_.Mul(Half(n_), I(2)), n_));
  EXPECT_TRUE(AtMost(n_, b_.Mul(Half(b_.Add(n_, I(1))), I(2))));
  EXPECT_FALSE(AtMost(n_, b_.Mul(Half(n_), I(2))));
  EXPECT_TRUE(AtMost(b_.Mul(Half(b_.Add(n_, I(1))), I(2)), b_.Add(b_.Mul(n_, I(2)), I(5))));
  EXPECT_TRUE(AtMost(n_, I(64)));
  EXPECT_FALSE(AtMost(n_, I(63)));
  EXPECT_FALSE(AtMost(n_, m_));
  EXPECT_TRUE(AtMost(b_.Mul(n_, m_), b_.Mul(n_, b_.Mul(m_, I(2)))));
}

}  // namespace
}  // namespace tg::analysis
