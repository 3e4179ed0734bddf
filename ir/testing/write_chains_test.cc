#include "ir/testing/write_chains.h"

#include <string>

#include "gtest/gtest.h"
#include "ir/interpret/compare_values.h"
#include "ir/interpret/run.h"
#include "ir/testing/array_model.h"
#include "ir/text/printer.h"
#include "ir/verify/verifier.h"
#include "ir/walk.h"

namespace tg::testing {
namespace {

using Items = std::vector<int64_t>;

TEST(ArrayModel, MovesElements) {
  const Array x = Counted({2, 3});
  EXPECT_EQ(x.items, (Items{0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(Permuted(x, {1, 0}).items, (Items{0, 3, 1, 4, 2, 5}));
  EXPECT_EQ(Permuted(Counted({2, 1, 3}), {2, 0, 1}).shape, (Items{3, 2, 1}));
  EXPECT_EQ(Permuted(Counted({2, 2, 2}), {2, 0, 1}).items, (Items{0, 2, 4, 6, 1, 3, 5, 7}));
  EXPECT_EQ(Flipped(x, {1}).items, (Items{2, 1, 0, 5, 4, 3}));
  EXPECT_EQ(Flipped(x, {0, 1}).items, (Items{5, 4, 3, 2, 1, 0}));
  EXPECT_EQ(Shrunk(x, {{1, 2}, {0, 2}}).items, (Items{3, 4}));
  EXPECT_EQ(Padded(Shrunk(x, {{0, 1}, {1, 3}}), {{1, 0}, {0, 1}}, -1).items,
            (Items{-1, -1, -1, 1, 2, -1}));
  EXPECT_EQ(Expanded(Shrunk(x, {{0, 2}, {1, 2}}), {2, 2}).items, (Items{1, 1, 4, 4}));
  EXPECT_EQ(Reshaped(x, {3, 2}).shape, (Items{3, 2}));
}

// Compares the interpreter with the model: the writes through chains of views, their order, and the
// values that reads of old and new contents observe.
TEST(WriteChains, TheInterpreterWritesThroughViews) {
  int through_views = 0, afters_of_views = 0;
  for (uint64_t seed = 0; seed < 4000; ++seed) {
    const WriteChains w = MakeWriteChains(seed);
    const Module& module = *w.program.module;
    Diagnostics diags;
    ASSERT_TRUE(VerifyModule(module, diags)) << diags.ToString() << PrintModule(module);
    const auto actual = interpret::Interpret(module, "main", w.program.inputs, {});
    ASSERT_TRUE(actual.ok()) << seed << ": " << std::string(actual.status().message());
    const auto difference = interpret::Difference(w.expected, *actual);
    ASSERT_FALSE(difference) << seed << ": " << *difference << "\n" << PrintModule(module);
    for (const UOp* u : PostOrder(module.graphs[0]->body.root)) {
      if (u->op == Op::kAfter) afters_of_views += u->src(0)->op != Op::kBuffer;
      if (u->op != Op::kAssign) continue;
      const UOp* version = u->src(0);
      while (IsMovement(version->op)) version = version->src(0);
      through_views += version->op == Op::kAssign && IsMovement(version->src(0)->op);
    }
  }
  // Every second graph assigns to a view of an assign to a view, or has an `after` of a view.
  EXPECT_GT(through_views, 2000);
  EXPECT_GT(afters_of_views, 2000);
}

TEST(WriteChains, SameSeedSameProgram) {
  for (uint64_t seed = 0; seed < 20; ++seed) {
    EXPECT_EQ(PrintModule(*MakeWriteChains(seed).program.module),
              PrintModule(*MakeWriteChains(seed).program.module));
  }
}

}  // namespace
}  // namespace tg::testing
