#include "passes/analysis/affine.h"

#include "gtest/gtest.h"
#include "ir/builder.h"
#include "ir/context.h"

namespace tg::analysis {
namespace {

class AffineTest : public testing::Test {
 protected:
  Context ctx_;
  Builder b_{ctx_};
  const UOp* i_ = b_.Range(b_.Index(8));
  const UOp* j_ = b_.Range(b_.Index(5));
};

TEST_F(AffineTest, SumsProductsAndDifferencesAreExpanded) {
  // 4 * (i + 3) - (j - 2 * i), with a constant on either side of a product.
  const UOp* u =
      b_.Sub(b_.Mul(b_.Index(4), b_.Add(i_, b_.Index(3))), b_.Sub(j_, b_.Mul(i_, b_.Index(2))));
  const std::optional<AffineExpr> sum = ParseAffine(u);
  ASSERT_TRUE(sum);
  EXPECT_EQ(sum->CoefOf(i_), 6);
  EXPECT_EQ(sum->CoefOf(j_), -1);
  EXPECT_EQ(sum->constant, 12);
  EXPECT_EQ(sum->terms.size(), 2u);
}

TEST_F(AffineTest, QuotientIsATerm) {
  const UOp* quotient = b_.Alu(Op::kFloorDiv, {i_, b_.Index(3)});
  const std::optional<AffineExpr> sum = ParseAffine(b_.Add(quotient, i_));
  ASSERT_TRUE(sum);
  EXPECT_EQ(sum->CoefOf(quotient), 1);
  EXPECT_EQ(sum->CoefOf(i_), 1);
}

TEST_F(AffineTest, TermsThatCancelAreGone) {
  const std::optional<AffineExpr> sum = ParseAffine(b_.Sub(i_, i_));
  ASSERT_TRUE(sum);
  EXPECT_TRUE(sum->is_constant());
  EXPECT_EQ(sum->constant, 0);
}

TEST_F(AffineTest, TakeRemovesATerm) {
  std::optional<AffineExpr> sum = ParseAffine(b_.Add(b_.Mul(i_, b_.Index(7)), j_));
  ASSERT_TRUE(sum);
  EXPECT_EQ(sum->Take(i_), 7);
  EXPECT_EQ(sum->Take(i_), 0);
  EXPECT_EQ(*sum, AffineExpr::Of(j_));
}

TEST_F(AffineTest, OverflowOfAnIndexHasNoForm) {
  const UOp* large = b_.Mul(i_, b_.Index(INT64_MAX / 2));
  EXPECT_TRUE(ParseAffine(large));
  EXPECT_FALSE(ParseAffine(b_.Mul(large, b_.Index(3))));
}

TEST_F(AffineTest, IntegersWrap) {
  const UOp* x = b_.Cast(i_, Scalar::kI32);
  const UOp* u = b_.Add(b_.Mul(x, b_.ConstInt(Scalar::kI32, INT32_MAX)), x);
  const std::optional<AffineExpr> sum = ParseAffine(u);
  ASSERT_TRUE(sum);
  EXPECT_EQ(sum->CoefOf(x), INT32_MIN);
}

TEST_F(AffineTest, TooManyTermsHaveNoForm) {
  const UOp* sum = i_;
  for (size_t n = 1; n < AffineExpr::kMaxTerms; ++n) sum = b_.Add(sum, b_.Range(b_.Index(2)));
  EXPECT_TRUE(ParseAffine(sum));
  EXPECT_FALSE(ParseAffine(b_.Add(sum, b_.Range(b_.Index(2)))));
}

}  // namespace
}  // namespace tg::analysis
