#include "passes/horizontal_fusion/partition_grid.h"

#include <algorithm>
#include <deque>
#include <utility>
#include <vector>

#include "gtest/gtest.h"

namespace tg {
namespace {

// Group by group: when the last core is done, in the time that even shares would take.
double SlowestCore(const std::vector<MemberGroups>& members, int64_t num_runs, int64_t num_cores) {
  std::deque<double> groups;
  double all = 0;
  std::vector<int64_t> dealt(members.size());
  for (int64_t run = 1; run <= num_runs; ++run) {
    for (size_t p = 0; p < members.size(); ++p) {
      // As many as are a run's share of what is not dealt yet, rounded up as a whole.
      while (dealt[p] * num_runs < run * members[p].count) {
        groups.push_back(members[p].seconds);
        all += members[p].seconds;
        ++dealt[p];
      }
    }
  }
  std::vector<double> busy(static_cast<size_t>(num_cores));
  while (!groups.empty()) {
    const auto left = static_cast<int64_t>(groups.size());
    int64_t chunk = (left + num_cores - 1) / num_cores;
    chunk = std::min(chunk, (left > 256 * num_cores * num_cores ? 256 : 32) * num_cores);
    chunk = std::min(chunk, left);
    auto free = std::min_element(busy.begin(), busy.end());
    for (; chunk > 0; --chunk) {
      *free += groups.front();
      groups.pop_front();
    }
  }
  return *std::max_element(busy.begin(), busy.end()) * static_cast<double>(num_cores) / all;
}

TEST(ChooseRuns, GivesEachCoreAsMuch) {
  // Of unet and train_mnist, by groups and microseconds of each.
  const std::vector<std::vector<MemberGroups>> cases = {
      {{256, 3.28}, {32, 0.13}},  {{160, 5.24}, {32, 0.13}}, {{40, 20.97}, {32, 0.27}},
      {{400, 0.20}, {640, 0.20}}, {{64, 6.45}, {256, 1.61}}, {{8, 52.44}, {256, 1.64}, {32, 0.01}},
  };
  for (const auto& members : cases) {
    double best = 1e9;
    for (int64_t runs = 1; runs <= 16; ++runs) best = std::min(best, SlowestCore(members, runs, 2));
    EXPECT_LE(SlowestCore(members, ChooseRuns(members, 2), 2), best + 0.02) << members[0].count;
  }
}

// PoCL gives two cores 64, 64, 64, 48 and 24 of 288 groups: the one that takes the 24 should not
// have groups of the long member alone while the other has what is left of both.
TEST(ChooseRuns, KnowsHowGroupsAreTaken) {
  const std::vector<MemberGroups> members = {{256, 3.28}, {32, 0.13}};
  EXPECT_GT(SlowestCore(members, 2, 2), 1.05);
  EXPECT_LT(SlowestCore(members, ChooseRuns(members, 2), 2), 1.01);
}

TEST(ChooseRuns, CutsWhereOneCoreWouldHaveAllLongGroups) {
  const std::vector<MemberGroups> members = {{40, 20.0}, {32, 0.5}};
  EXPECT_GT(SlowestCore(members, 1, 2), 1.5);
  EXPECT_EQ(ChooseRuns(members, 2), 2);
}

// What arithmetic says nothing of may be what takes long.
TEST(ChooseRuns, AllowsForWrongEstimates) {
  const std::vector<MemberGroups> guess = {{128, 1.0}, {8, 0.8}};
  const std::vector<MemberGroups> truth = {{128, 1.0}, {8, 6.4}};
  EXPECT_LT(SlowestCore(truth, ChooseRuns(guess, 2), 2), 1.05);
}

TEST(ChooseRuns, LeavesOneCoreAlone) {
  EXPECT_EQ(ChooseRuns(std::vector<MemberGroups>{{40, 20.0}, {32, 0.5}}, 1), 1);
}

// Members that only move data have no arithmetic: their groups count as equal ones.
TEST(ChooseRuns, TakesPartsWithoutArithmetic) {
  const std::vector<MemberGroups> none = {{40, 0}, {32, 0}, {256, 0}};
  const std::vector<MemberGroups> some = {{40, 1e-8}, {32, 1e-8}, {256, 1e-8}};
  EXPECT_EQ(ChooseRuns(none, 2), ChooseRuns(some, 2));
  EXPECT_LT(SlowestCore(some, ChooseRuns(none, 2), 2), 1.02);
}

TEST(ChooseRuns, DoesNotDealMillions) {
  EXPECT_EQ(ChooseRuns(std::vector<MemberGroups>{{INT32_MAX, 1e-6}, {40, 1e-6}}, 2), 1);
}

}  // namespace
}  // namespace tg
