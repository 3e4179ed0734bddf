#include "runtime/plan/memory_plan.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace tg::runtime {
namespace {

using Place = MemoryPlan::Place;

// Without gaps between buffers, so that sums of bytes are what they are.
constexpr ArenaLimits kPacked = {.alignment = 1};

TEST(MemoryPlan, Nothing) {
  const MemoryPlan plan = PlanMemory({});
  EXPECT_TRUE(plan.arena_bytes.empty());
  EXPECT_EQ(plan.planned_bytes, 0u);
  EXPECT_EQ(plan.live_bytes, 0u);
}

// A chain of any length needs two buffers.
TEST(MemoryPlan, ChainAlternates) {
  std::vector<Lifetime> chain;
  for (int i = 0; i < 100; ++i) chain.push_back({1024, i, i + 1});
  const MemoryPlan plan = PlanMemory(chain);
  EXPECT_EQ(plan.arena_bytes, (std::vector<size_t>{2048}));
  EXPECT_EQ(plan.separate_bytes, 102400u);
  EXPECT_EQ(plan.planned_bytes, 2048u);
  EXPECT_EQ(plan.live_bytes, 2048u);
}

// A chain of a million buffers is ordinary.
TEST(MemoryPlan, LongChain) {
  std::vector<Lifetime> chain;
  for (int i = 0; i < 1'000'000; ++i) chain.push_back({64 + static_cast<size_t>(i % 7), i, i + 1});
  EXPECT_LE(PlanMemory(chain).planned_bytes, 3u * 128);
}

TEST(MemoryPlan, SmallBuffersShareTheBytesOfALargeOne) {
  const MemoryPlan plan =
      PlanMemory(std::vector<Lifetime>{{800, 0, 1}, {300, 2, 3}, {500, 2, 3}}, kPacked);
  EXPECT_EQ(plan.arena_bytes, (std::vector<size_t>{800}));
  EXPECT_EQ(plan.places, (std::vector<Place>{{0, 0}, {0, 500}, {0, 0}}));
}

TEST(MemoryPlan, TakesTheSmallestGap) {
  // Live with the last one: 40 bytes at 0, 30 at 60, 30 at 100; gaps of 20 and of 10.
  const MemoryPlan plan = PlanMemory(
      std::vector<Lifetime>{{60, 0, 0}, {40, 1, 3}, {40, 0, 0}, {30, 0, 3}, {30, 0, 1}, {10, 3, 3}},
      kPacked);
  EXPECT_EQ(plan.places[1].offset, 0u);
  EXPECT_EQ(plan.places[3].offset, 100u);
  EXPECT_EQ(plan.places[5].offset, 40u);
  EXPECT_EQ(plan.planned_bytes, 160u);
}

// For each order, buffers for which only that one needs no more than what is live.
TEST(MemoryPlan, TakesTheBestOrder) {
  const std::vector<Lifetime> lives[] = {
      {{20, 2, 4}, {20, 3, 5}, {40, 4, 4}, {10, 4, 5}, {50, 0, 2}},
      {{30, 1, 5}, {40, 0, 0}, {30, 2, 3}, {40, 0, 2}},
      {{50, 2, 3}, {40, 0, 5}, {40, 0, 2}, {60, 4, 4}},
  };
  for (const std::vector<Lifetime>& buffers : lives) {
    const MemoryPlan plan = PlanMemory(buffers, kPacked);
    EXPECT_EQ(plan.planned_bytes, plan.live_bytes);
  }
}

TEST(MemoryPlan, SharedStepMeansBothLive) {
  const MemoryPlan plan = PlanMemory(std::vector<Lifetime>{{8, 0, 2}, {8, 2, 3}}, kPacked);
  EXPECT_NE(plan.places[0], plan.places[1]);
}

TEST(MemoryPlan, EmptyBuffersHaveAPlace) {
  const MemoryPlan plan = PlanMemory(std::vector<Lifetime>{{0, 0, 1}, {0, 1, 1}});
  EXPECT_EQ(plan.arena_bytes, (std::vector<size_t>{65}));
  EXPECT_EQ(plan.live_bytes, 0u);
}

// What a device does not allocate at once is in several arenas; a buffer that is too large alone is
// in one that the device refuses.
TEST(MemoryPlan, SeveralArenas) {
  const std::vector<Lifetime> lives = {{100, 0, 1}, {100, 0, 1}, {50, 0, 1}, {250, 2, 2}};
  const MemoryPlan plan = PlanMemory(std::span(lives).first(3), {.alignment = 1, .max_bytes = 180});
  EXPECT_EQ(plan.places, (std::vector<Place>{{0, 0}, {1, 0}, {0, 100}}));
  EXPECT_EQ(plan.arena_bytes, (std::vector<size_t>{150, 100}));
  EXPECT_EQ(PlanMemory(lives, {.alignment = 1, .max_bytes = 180}).arena_bytes,
            (std::vector<size_t>{250}));
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
    ArenaLimits limits;
    limits.alignment = size_t{1} << random() % 9;
    if (round % 2 == 1) limits.max_bytes = 5000 + random() % 5000;
    const MemoryPlan plan = PlanMemory(lives, limits);
    size_t sum = 0, rounded = 0;
    for (size_t i = 0; i < lives.size(); ++i) {
      sum += lives[i].bytes;
      rounded += lives[i].bytes + limits.alignment;
      const Place& place = plan.places[i];
      ASSERT_EQ(place.offset % limits.alignment, 0u);
      ASSERT_LE(place.offset + std::max<size_t>(lives[i].bytes, 1), plan.arena_bytes[place.arena]);
      for (size_t j = 0; j < i; ++j) {
        if (lives[i].first > lives[j].last || lives[j].first > lives[i].last) continue;
        const Place& other = plan.places[j];
        ASSERT_TRUE(place.arena != other.arena || place.offset >= other.offset + lives[j].bytes ||
                    other.offset >= place.offset + lives[i].bytes)
            << i << " and " << j;
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
    EXPECT_LE(plan.planned_bytes, rounded);
    for (const size_t bytes : plan.arena_bytes) EXPECT_LE(bytes, limits.max_bytes);
  }
}

TEST(MemoryPlan, WithoutPartsBuffersBeginTheirBlocks) {
  ArenaLimits limits;
  limits.has_parts = false;
  const std::vector<Lifetime> lives = {{100, 0, 1}, {40, 1, 2}, {60, 2, 3}, {30, 3, 4}};
  const MemoryPlan plan = PlanMemory(lives, limits);
  for (const MemoryPlan::Place& place : plan.places) EXPECT_EQ(place.offset, 0u);
  EXPECT_EQ(plan.places[0], plan.places[2]);  // the largest block is free again
  EXPECT_EQ(plan.places[1], plan.places[3]);
  EXPECT_EQ(plan.arena_bytes, (std::vector<size_t>{100, 40}));
  EXPECT_EQ(plan.planned_bytes, 140u);
}

}  // namespace
}  // namespace tg::runtime
