#include "runtime/plan/memory_plan.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace tg::runtime {
namespace {

TEST(MemoryPlan, Nothing) {
  const MemoryPlan plan = PlanMemory({});
  EXPECT_TRUE(plan.block_bytes.empty());
  EXPECT_EQ(plan.planned_bytes, 0u);
  EXPECT_EQ(plan.live_bytes, 0u);
}

// A chain of any length needs two buffers.
TEST(MemoryPlan, ChainAlternates) {
  std::vector<Lifetime> chain;
  for (int i = 0; i < 100; ++i) chain.push_back({1000, i, i + 1});
  const MemoryPlan plan = PlanMemory(chain);
  EXPECT_EQ(plan.block_bytes, (std::vector<size_t>{1000, 1000}));
  EXPECT_EQ(plan.separate_bytes, 100000u);
  EXPECT_EQ(plan.planned_bytes, 2000u);
  EXPECT_EQ(plan.live_bytes, 2000u);
}

TEST(MemoryPlan, SmallBufferTakesSmallestFreeBlock) {
  const MemoryPlan plan = PlanMemory(std::vector<Lifetime>{{800, 0, 1}, {100, 0, 1}, {90, 2, 3}});
  EXPECT_EQ(plan.block_bytes, (std::vector<size_t>{800, 100}));
  EXPECT_EQ(plan.block_of, (std::vector<int>{0, 1, 1}));
}

TEST(MemoryPlan, SharedStepMeansBothLive) {
  const MemoryPlan plan = PlanMemory(std::vector<Lifetime>{{8, 0, 2}, {8, 2, 3}});
  EXPECT_NE(plan.block_of[0], plan.block_of[1]);
}

TEST(MemoryPlan, RandomLives) {
  std::mt19937 random(7);
  for (int round = 0; round < 200; ++round) {
    std::vector<Lifetime> lives(random() % 40);
    for (Lifetime& life : lives) {
      life.bytes = random() % 5000;
      life.first = static_cast<int>(random() % 30);
      life.last = life.first + static_cast<int>(random() % 8);
    }
    const MemoryPlan plan = PlanMemory(lives);
    size_t sum = 0;
    for (size_t i = 0; i < lives.size(); ++i) {
      sum += lives[i].bytes;
      const auto block = static_cast<size_t>(plan.block_of[i]);
      ASSERT_LE(lives[i].bytes, plan.block_bytes[block]);
      for (size_t j = 0; j < i; ++j) {
        const bool overlap = lives[i].first <= lives[j].last && lives[j].first <= lives[i].last;
        ASSERT_FALSE(overlap && plan.block_of[i] == plan.block_of[j]) << i << " and " << j;
      }
    }
    size_t most = 0;
    for (int step = 0; step < 40; ++step) {
      size_t live = 0;
      for (const Lifetime& life : lives) {
        if (life.first <= step && step <= life.last) live += life.bytes;
      }
      most = std::max(most, live);
    }
    EXPECT_EQ(plan.separate_bytes, sum);
    EXPECT_EQ(plan.live_bytes, most);
    EXPECT_LE(plan.live_bytes, plan.planned_bytes);
    EXPECT_LE(plan.planned_bytes, plan.separate_bytes);
  }
}

}  // namespace
}  // namespace tg::runtime
