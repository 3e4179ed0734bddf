#include "passes/kernelize/waits.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ir/builder.h"
#include "ir/context.h"
#include "passes/kernelize/hazards.h"

namespace tg::kernelize {
namespace {

using ::testing::ElementsAre;

TEST(Components, EachBehindWhatItWaitsFor) {
  // 0 -> 1 -> 2 -> 0, which wait for 3; 4 waits for 0, and 5 for nothing.
  EXPECT_THAT(Components({{1}, {2}, {0, 3}, {}, {0}, {}}),
              ElementsAre(ElementsAre(3), ElementsAre(0, 1, 2), ElementsAre(4), ElementsAre(5)));
}

TEST(Components, OfALongChain) {
  std::vector<std::vector<size_t>> before(1000000);
  for (size_t i = 0; i + 1 < before.size(); ++i) before[i] = {i + 1};
  EXPECT_EQ(Components(before).size(), before.size());
  before.back() = {0};
  EXPECT_EQ(Components(before).size(), 1);
}

// Two assigns, each of which overwrites what the other one reads.
TEST(WaitsDeathTest, LevelsOfACircle) {
  Context context;
  Builder b(context);
  std::vector<KernelDraft> drafts(2);
  for (size_t i = 0; i < 2; ++i) {
    const UOp* buffer = b.Buffer(i == 0 ? "s" : "t", kF32);
    const UOp* value = b.ConstBits(kF32, 0);
    drafts[i].nodes = {context.Make(Op::kAssign, kF32, {buffer, value})};
    drafts[i].targets = {buffer};
  }
  WriteAfterRead order;
  order.drafts = {{1}, {}};
  EXPECT_THAT(Waits(drafts, order).Levels(), ElementsAre(1, 0));
  order.drafts = {{1}, {0}};
  EXPECT_DEATH(Waits(drafts, order).Levels(), "component.size\\(\\) == 1");
}

}  // namespace
}  // namespace tg::kernelize
