#include "runtime/plan/queue_waits.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <random>
#include <set>

namespace tg::runtime {
namespace {

using Waits = std::vector<std::vector<size_t>>;

TEST(Hazards, OneQueueWaitsForNothing) {
  EXPECT_EQ(FindWaits(std::vector<Command>{{0, {}, {1}}, {0, {1}, {2}}, {0, {2}, {1}}}),
            (Waits{{}, {}, {}}));
}

TEST(Hazards, ReadAfterWrite) {
  EXPECT_EQ(FindWaits(std::vector<Command>{{0, {}, {1}}, {1, {1}, {2}}}), (Waits{{}, {0}}));
}

TEST(Hazards, WriteAfterRead) {
  // A second reader on the first queue needs no wait; a command that overwrites does.
  EXPECT_EQ(FindWaits(std::vector<Command>{
                {0, {}, {1}}, {1, {1}, {2}}, {0, {1}, {3}}, {0, {3}, {1}}, {0, {}, {1}}}),
            (Waits{{}, {0}, {}, {1}, {}}));
}

TEST(Hazards, WriteAfterWrite) {
  EXPECT_EQ(FindWaits(std::vector<Command>{{0, {}, {1}}, {1, {}, {1}}}), (Waits{{}, {0}}));
}

TEST(Hazards, WhatAWaitImplies) {
  // The second command of queue 1 inherits the first command's wait; so does a command that waits
  // for it.
  EXPECT_EQ(
      FindWaits(std::vector<Command>{{0, {}, {1}}, {1, {1}, {2}}, {1, {1}, {3}}, {2, {1, 3}, {4}}}),
      (Waits{{}, {0}, {}, {2}}));
}

// Queues and waits order every conflict between queues. Without any one of the waits, some conflict
// is unordered.
TEST(Hazards, RandomCommandsAreOrdered) {
  std::mt19937 random(5);
  const auto below = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
  size_t total = 0;
  for (int round = 0; round < 300; ++round) {
    std::vector<Command> commands(static_cast<size_t>(2 + below(14)));
    for (Command& c : commands) {
      c.queue = below(3);
      for (int i = below(3); i > 0; --i) c.reads.push_back(below(4));
      for (int i = below(2); i >= 0; --i) c.writes.push_back(below(4));
    }
    Waits waits = FindWaits(commands);
    const size_t n = commands.size();
    // Returns, for each command, the commands that have finished before it starts.
    const auto before = [&] {
      std::vector<std::set<size_t>> done(n);
      for (size_t i = 0; i < n; ++i) {
        const auto after = [&](size_t k) {
          done[i].insert(k);
          done[i].insert(done[k].begin(), done[k].end());
        };
        for (size_t k = 0; k < i; ++k) {
          if (commands[k].queue == commands[i].queue) after(k);
        }
        for (size_t k : waits[i]) after(k);
      }
      return done;
    };
    const auto touches = [](const std::vector<int>& a, const std::vector<int>& b) {
      for (int x : a) {
        for (int y : b) {
          if (x == y) return true;
        }
      }
      return false;
    };
    const auto is_ordered = [&] {
      const auto done = before();
      for (size_t i = 0; i < n; ++i) {
        for (size_t k = 0; k < i; ++k) {
          const Command &a = commands[k], &b = commands[i];
          const bool conflict = touches(a.writes, b.writes) || touches(a.writes, b.reads) ||
                                touches(a.reads, b.writes);
          if (conflict && !done[i].count(k)) return false;
        }
      }
      return true;
    };
    ASSERT_TRUE(is_ordered()) << "round " << round;
    for (size_t i = 0; i < n; ++i) {
      total += waits[i].size();
      for (size_t w = 0; w < waits[i].size(); ++w) {
        const size_t dropped = waits[i][w];
        EXPECT_EQ(commands[dropped].queue == commands[i].queue, false);
        waits[i].erase(waits[i].begin() + static_cast<ptrdiff_t>(w));
        EXPECT_FALSE(is_ordered()) << "round " << round << ": wait of " << i << " for " << dropped;
        waits[i].insert(waits[i].begin() + static_cast<ptrdiff_t>(w), dropped);
      }
    }
  }
  EXPECT_GT(total, 500u);
}

TEST(Hazards, PiecesAreSharedByRangesThatOverlap) {
  int memory[2];
  const MemoryRange ranges[] = {{&memory[0], 0, 100},
                                {&memory[0], 100, 150},
                                {&memory[0], 50, 120},
                                {&memory[1], 50, 120},
                                {&memory[0], 0, 150}};
  const std::vector<std::vector<int>> pieces = PiecesOf(ranges);
  const auto share = [&](size_t a, size_t b) {
    return std::any_of(pieces[a].begin(), pieces[a].end(), [&](int piece) {
      return std::find(pieces[b].begin(), pieces[b].end(), piece) != pieces[b].end();
    });
  };
  for (size_t a = 0; a < std::size(ranges); ++a) {
    EXPECT_FALSE(pieces[a].empty());
    for (size_t b = 0; b < std::size(ranges); ++b) {
      const bool overlap = ranges[a].memory == ranges[b].memory &&
                           ranges[a].begin < ranges[b].end && ranges[b].begin < ranges[a].end;
      EXPECT_EQ(share(a, b), overlap) << a << " and " << b;
    }
  }
}

}  // namespace
}  // namespace tg::runtime
