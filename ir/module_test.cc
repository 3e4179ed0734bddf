#include "ir/module.h"

#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "ir/builder.h"
#include "ir/walk.h"

namespace tg {
namespace {

// i * 2 + 1 for a range i, among nodes that nobody uses.
struct Sample {
  Sample() {
    Builder b(*body.context);
    const UOp* dead = b.Add(b.Index(7), b.Index(8));
    range = b.Range(b.Index(4));
    product = b.Mul(range, b.Index(2));
    body.side.SetName(product, body.context->Intern("twice"));
    body.side.SetLoc(product, {3, 5});
    b.Range(dead);
    sum = b.Add(product, b.Index(1));
    const UOp* lanes = b.Gep(b.Splat(sum, 2), std::vector<int64_t>{1, 1, 0});
    body.root = b.Sink(UOpSpan(&lanes, 1));
  }

  Body body;
  const UOp *range, *product, *sum;
};

TEST(Compact, KeepsWhatTheRootReaches) {
  Sample s;
  const std::vector<const UOp*> before = PostOrder(s.body.root);
  ASSERT_LT(before.size(), s.body.context->num_nodes());
  Compact(s.body);
  EXPECT_EQ(PostOrder(s.body.root), before);
  ASSERT_EQ(s.body.context->num_nodes(), before.size());
  for (uint32_t id = 0; id < before.size(); ++id) {
    EXPECT_EQ(before[id]->id, id);
    EXPECT_EQ(s.body.context->node(id), before[id]);
  }
  EXPECT_EQ(s.body.Order(), before);
}

TEST(Compact, NodesAreStillUniqueAndIdsFresh) {
  Sample s;
  Compact(s.body);
  Builder b(*s.body.context);
  EXPECT_EQ(b.Mul(s.range, b.Index(2)), s.product);
  EXPECT_EQ(b.Add(s.product, b.Index(1)), s.sum);
  const uint32_t n = s.body.context->num_nodes();
  EXPECT_EQ(b.Index(7)->id, n);  // it was used by nobody, and is new again
  EXPECT_EQ(b.Index(7)->id, n);
  EXPECT_EQ(b.Range(b.Index(4))->word(), s.range->word() + 1);
}

TEST(Compact, NamesAndPlacesGoAlong) {
  Sample s;
  const uint32_t old_id = s.product->id;
  Compact(s.body);
  ASSERT_NE(s.product->id, old_id);
  EXPECT_EQ(s.body.context->String(s.body.side.name(s.product)), "twice");
  EXPECT_EQ(s.body.side.loc(s.product).line, 3u);
  EXPECT_EQ(s.body.side.loc(s.product).column, 5u);
  for (const UOp* u : PostOrder(s.body.root)) {
    EXPECT_EQ(s.body.side.name(u) != 0, u == s.product);
  }
}

TEST(Compact, ManyNodes) {
  Body body;
  Builder b(*body.context);
  const UOp* x = b.Range(b.Index(4));
  for (int64_t i = 0; i < 1000; ++i) x = b.Add(b.Mul(x, b.Index(i)), b.Index(-i));
  body.root = b.Sink(UOpSpan(&x, 1));
  Compact(body);
  const std::vector<const UOp*> order = PostOrder(body.root);
  for (const UOp* u : order) EXPECT_EQ(body.context->Make(u->op, u->dtype, u->srcs(), u->attr), u);
  EXPECT_EQ(body.context->num_nodes(), order.size());
}

TEST(SideTable, CarryOverKeepsWhatThereIs) {
  Sample s;
  s.body.side.SetLoc(s.sum, {9, 9});
  s.body.CarryOver(s.product, s.sum);
  EXPECT_EQ(s.body.context->String(s.body.side.name(s.sum)), "twice");
  EXPECT_EQ(s.body.side.loc(s.sum).line, 9u);
  s.body.CarryOver(s.product, s.body.root);
  EXPECT_EQ(s.body.side.loc(s.body.root).line, 3u);
  s.body.CarryOver(s.range, s.sum);  // it has neither
  EXPECT_EQ(s.body.side.loc(s.sum).line, 9u);
}

}  // namespace
}  // namespace tg
