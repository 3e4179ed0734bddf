#include "capi/handles.h"

#include <set>

#include "gtest/gtest.h"

namespace tg::capi {
namespace {

using Table = HandleTable<int, 'A'>;

TEST(HandleTable, ARemovedNumberIsNeverValidAgain) {
  Table table;
  std::set<uint64_t> all;
  for (int i = 0; i < 1000; ++i) {
    const uint64_t number = table.Add(std::make_shared<int>(i));
    EXPECT_TRUE(all.insert(number).second);
    ASSERT_NE(table.Find(number), nullptr);
    EXPECT_EQ(*table.Find(number), i);
    if (i % 3 != 0) {
      EXPECT_EQ(*table.Remove(number), i);
    }
  }
  for (const uint64_t number : all) {
    const std::shared_ptr<int> found = table.Find(number);
    if (found != nullptr) {
      EXPECT_EQ(*found % 3, 0);
    }
  }
}

TEST(HandleTable, ASlotIsNotUsedAgainOnceItsGenerationsAreUsedUp) {
  Table table;
  const uint64_t first = table.Add(std::make_shared<int>(0));
  EXPECT_NE(table.Remove(first), nullptr);
  const uint32_t index = static_cast<uint32_t>(first);
  uint64_t last = first;
  for (int i = 0; i < 0xffffff; ++i) {
    const uint64_t number = table.Add(std::make_shared<int>(i));
    if (static_cast<uint32_t>(number) != index) {
      EXPECT_EQ(table.Find(first), nullptr);
      EXPECT_EQ(table.Find(last), nullptr);
      EXPECT_EQ((last >> 32) & 0xffffff, 0xffffffu);
      return;
    }
    last = number;
    EXPECT_NE(table.Remove(number), nullptr);
  }
  FAIL() << "the slot was used for ever";
}

TEST(HandleTable, ANumberOfAnotherKindIsNotFound) {
  Table table;
  HandleTable<int, 'B'> other;
  const uint64_t number = table.Add(std::make_shared<int>(1));
  other.Add(std::make_shared<int>(2));
  EXPECT_EQ(other.Find(number), nullptr);
  EXPECT_EQ(other.Remove(number), nullptr);
  EXPECT_EQ(table.Find(0), nullptr);
}

TEST(HandleTable, ARemovedObjectLivesWhileItIsUsed) {
  Table table;
  const uint64_t number = table.Add(std::make_shared<int>(7));
  const std::shared_ptr<int> used = table.Find(number);
  table.Remove(number);
  EXPECT_EQ(*used, 7);
}

}  // namespace
}  // namespace tg::capi
