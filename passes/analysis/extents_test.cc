#include "passes/analysis/extents.h"

#include "gtest/gtest.h"
#include "ir/builder.h"
#include "passes/analysis/indexing.h"

namespace tg::analysis {
namespace {

class ExtentsTest : public testing::Test {
 protected:
  // Groups as "from axes:to axes", "=" for the same.
  static std::string Groups(const Shape& from, const Shape& to) {
    std::string text;
    for (const ReshapeGroup& g : GroupReshape(from, to)) {
      text += (text.empty() ? "" : " ") + std::to_string(g.from_end - g.from_begin) +
              (g.same ? "=" : ":") + std::to_string(g.to_end - g.to_begin);
    }
    return text;
  }

  Context context_;
  Builder b_{context_};
  const UOp* n_ = b_.Var("n");
  const UOp* m_ = b_.Var("m");
};

TEST_F(ExtentsTest, ProductsAreEqualInAnyOrder) {
  const Shape a = {4, n_, b_.Mul(m_, b_.Index(2))}, b = {b_.Mul(m_, n_), 8};
  EXPECT_EQ(ExtentsOf(a), ExtentsOf(b));
  EXPECT_NE(ExtentsOf(a), ExtentsOf(Shape{4, n_, 2}));
  EXPECT_NE(ExtentsOf(Dim(n_)), ExtentsOf(Dim(m_)));
  EXPECT_NE(ExtentsOf(Shape{n_, n_}), ExtentsOf(Dim(n_)));
}

TEST_F(ExtentsTest, DividesByFactorsOnly) {
  Extents e = ExtentsOf(Shape{n_, n_, 12});
  EXPECT_FALSE(e.Divide(ExtentsOf(Dim(m_))));
  EXPECT_FALSE(e.Divide(ExtentsOf(Dim(5))));
  EXPECT_FALSE(e.Divide(ExtentsOf(Dim(0))));
  EXPECT_EQ(e, ExtentsOf(Shape{n_, n_, 12}));
  EXPECT_TRUE(e.Divide(ExtentsOf(Shape{n_, 4})));
  EXPECT_EQ(e, ExtentsOf(Shape{n_, 3}));
}

TEST_F(ExtentsTest, SymbolicAxesOfAReshapeAreGroupedAlone) {
  EXPECT_EQ(Groups({2, n_, 64}, {2, 1, n_, 64}), "1=1 1:2 1=1");
  EXPECT_EQ(Groups({b_.Mul(n_, b_.Index(16)), m_}, {n_, 16, m_}), "1:2 1=1");
  EXPECT_EQ(Groups({n_, 6, m_}, {n_, 2, 3, m_}), "1=1 1:2 1=1");
  // These are not the same products.
  EXPECT_EQ(Groups({n_, 4, 8}, {m_, 4, 8}), "3:3");
}

}  // namespace
}  // namespace tg::analysis
