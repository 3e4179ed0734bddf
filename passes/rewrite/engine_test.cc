#include "passes/rewrite/engine.h"

#include <gtest/gtest.h>

#include "ir/builder.h"

namespace tg::rewrite {
namespace {

using namespace pattern;  // NOLINT

constexpr auto kSums =
    rules(rule(Z | W, x + 0, x), rule(Z | W, x* c0 + x, x*(c0 + 1)),
          rule(Z | W, (x + c0) + c1, x + (c0 + c1)), rule(Z, x / c0, 0, x >= 0 && x < c0));
const RuleSet& Sums() {
  static const RuleSet kSet({&RuleTable<kSums>::kList});
  return kSet;
}

struct Fixture {
  Context ctx;
  Builder b{ctx};
  analysis::Bounds bounds{ctx};
  analysis::StructuralOrder order{ctx};
  RuleContext rc{ctx, bounds, order};
};

TEST(Rewriter, SourcesFirstAndAgainOnChange) {
  Fixture f;
  const UOp* r = f.b.Range(f.b.Index(10));
  // (r / 16 + (r + 3)) + 4: the quotient is 0 by bounds.
  const UOp* u = f.b.Add(
      f.b.Add(f.b.Add(r, f.b.Index(3)), f.b.Alu(Op::kFloorDiv, {r, f.b.Index(16)})), f.b.Index(4));
  Rewriter rewriter(Sums(), f.rc);
  EXPECT_EQ(*rewriter.Rewrite(u), f.b.Add(r, f.b.Index(7)));
  EXPECT_EQ(rewriter.num_applications(), 3u);
  EXPECT_EQ(rewriter.hits(), (std::vector<uint64_t>{1, 0, 1, 1}));
  EXPECT_NE(rewriter.HitReport().find("  1  x + c0 + c1 -> x + (c0 + c1) (engine_test.cc:"),
            std::string::npos)
      << rewriter.HitReport();
}

TEST(Rewriter, TopKeepsWhatIsBelow) {
  Fixture f;
  const UOp* r = f.b.Range(f.b.Index(10));
  const UOp* sum = f.b.Add(f.b.Add(r, f.b.Index(3)), f.b.Index(4));
  const UOp* old = f.b.Add(f.b.Mul(sum, f.b.Index(2)), f.b.Index(0));
  // The result of the rules is an existing node below a source: it and its sources are not visited.
  const UOp* u = f.b.Add(f.b.Add(sum, f.b.Index(-8)), f.b.Index(8));
  Rewriter rewriter(Sums(), f.rc);
  EXPECT_EQ(*rewriter.RewriteTop(u), sum);
  EXPECT_EQ(*rewriter.RewriteTop(f.b.Add(old, f.b.Index(0))), old);
  EXPECT_EQ(*rewriter.RewriteTop(old), old->src(0));
  EXPECT_EQ(*Rewriter(Sums(), f.rc).Rewrite(u), f.b.Add(r, f.b.Index(7)));
}

TEST(Rewriter, TriesBothOrdersOfWhatCommutes) {
  Fixture f;
  const UOp* r = f.b.Range(f.b.Index(10));
  const UOp* three_r = f.b.Mul(r, f.b.Index(3));
  Rewriter rewriter(Sums(), f.rc);
  const UOp* want = f.b.Mul(r, f.b.Index(4));
  EXPECT_EQ(*rewriter.Rewrite(f.b.Add(three_r, r)), want);
  EXPECT_EQ(*rewriter.Rewrite(f.b.Add(r, three_r)), want);
}

TEST(Rewriter, DoesNotFoldAnIndexThatOverflows) {
  Fixture f;
  const UOp* r = f.b.Range(f.b.Index(10));
  const UOp* big = f.b.Index(INT64_MAX - 1);
  const UOp* u = f.b.Add(f.b.Add(r, big), big);
  Rewriter rewriter(Sums(), f.rc);
  EXPECT_EQ(*rewriter.Rewrite(u), u);
}

TEST(Rewriter, AMillionNodesInAChain) {
  Body body;
  Builder b(*body.context);
  const UOp* u = b.Range(b.Index(10));
  const UOp* zero = b.Index(0);
  const UOp* other = b.Range(b.Index(9));
  for (int i = 0; i < 1000000; ++i)
    u = b.Alu(i % 2 ? Op::kAdd : Op::kMax, {u, i % 2 ? zero : other});
  body.root = b.Sink({&u, 1});
  const auto result = Rewrite(body, Sums());
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(result->applications, 500000u);
}

TEST(Rewriter, AMillionRewritesInAChain) {
  Body body;
  Builder b(*body.context);
  const UOp* r = b.Range(b.Index(10));
  const UOp* u = r;
  for (int i = 0; i < 1000000; ++i)
    u = b.Alu(Op::kAdd, {b.Alu(Op::kMax, {u, b.Index(i)}), b.Index(0)});
  body.root = b.Sink({&u, 1});
  const auto result = Rewrite(body, Sums());
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(result->applications, 1000000u);
}

TEST(Rewriter, NamesGoOverToWhatReplacesThem) {
  Body body;
  Builder b(*body.context);
  const UOp* r = b.Range(b.Index(10));
  const UOp* inner = b.Add(r, b.Index(3));
  const UOp* u = b.Add(inner, b.Index(4));
  const UOp* zero = b.Add(r, b.Index(0));
  body.side.SetName(u, body.context->Intern("sum"));
  body.side.SetLoc(u, {7, 3});
  body.side.SetName(zero, body.context->Intern("same"));
  const UOp* roots[] = {u, zero};
  body.root = b.Sink(roots);
  ASSERT_TRUE(Rewrite(body, Sums()).ok());
  const UOp* sum = body.root->src(0);
  EXPECT_EQ(sum, b.Add(r, b.Index(7)));
  EXPECT_EQ(body.context->String(body.side.name(sum)), "sum");
  EXPECT_EQ(body.side.loc(sum).line, 7u);
  // r was there before: it keeps its own (no) name.
  EXPECT_EQ(body.root->src(1), r);
  EXPECT_EQ(body.side.name(r), 0u);
}

TEST(Rewriter, ReportsRulesThatGoInACircle) {
  static constexpr auto kCircle = rules(rule(Z, x + y, x - y * -1), rule(Z, x - y, x + y * -1),
                                        rule(Z, (x * c0) * c1, x * (c0 * c1)), rule(Z, x * 1, x));
  const RuleSet set({&RuleTable<kCircle>::kList});
  Fixture f;
  const UOp* u = f.b.Add(f.b.Range(f.b.Index(10)), f.b.Range(f.b.Index(9)));
  Rewriter rewriter(set, f.rc);
  const auto result = rewriter.Rewrite(u);
  ASSERT_FALSE(result.ok());
  const std::string message(result.status().message());
  EXPECT_NE(message.find("x + y -> x - y * -1 (engine_test.cc:"), std::string::npos) << message;
  EXPECT_NE(message.find("x - y -> x + y * -1"), std::string::npos) << message;
  EXPECT_EQ(message.find("x * 1 -> x ("), std::string::npos) << message;
  // The rewriter can be used for something else afterwards.
  EXPECT_TRUE(rewriter.Rewrite(f.b.Index(1)).ok());
}

TEST(Rewriter, ReportsGrowthWithoutEnd) {
  static constexpr auto kGrowth = rules(rule(Z, x + c0, (x + (c0 + 1)) * 2));
  const RuleSet set({&RuleTable<kGrowth>::kList});
  Fixture f;
  Rewriter rewriter(set, f.rc);
  rewriter.set_max_applications(1000);
  const auto result = rewriter.Rewrite(f.b.Add(f.b.Range(f.b.Index(10)), f.b.Index(1)));
  ASSERT_FALSE(result.ok());
  EXPECT_NE(std::string(result.status().message()).find("given up after 1000 applications"),
            std::string::npos)
      << result.status().message();
}

TEST(Rewriter, LinearBodiesAreRefused) {
  Body body;
  Builder b(*body.context);
  body.root = b.Sink({});
  body.linear = {body.root};
  EXPECT_EQ(Rewrite(body, Sums()).status().code(), absl::StatusCode::kInvalidArgument);
}

TEST(RuleSet, NumbersRulesThroughItsLists) {
  static constexpr auto kMore =
      rules(custom<Op::kNeg>([](const UOp* u, RuleContext&) { return u->src(0); }, "DropNeg"));
  const RuleSet set({&RuleTable<kSums>::kList, &RuleTable<kMore>::kList});
  ASSERT_EQ(set.num_rules(), 5u);
  EXPECT_EQ(set.Describe(0).name, "x + 0 -> x");
  EXPECT_EQ(set.Describe(3).name, "x / c0 -> 0 if x >= 0 && x < c0");
  EXPECT_EQ(set.Describe(4).name, "DropNeg");
  Fixture f;
  Rewriter rewriter(set, f.rc);
  const UOp* r = f.b.Range(f.b.Index(10));
  EXPECT_EQ(*rewriter.Rewrite(f.b.Alu(Op::kNeg, {r})), r);
  EXPECT_EQ(rewriter.hits()[4], 1u);
}

}  // namespace
}  // namespace tg::rewrite
