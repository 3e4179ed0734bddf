// Which schedules are dropped because they do not gain in the model.
#include "runtime/search/confirm.h"

#include <gtest/gtest.h>

#include <set>

namespace tg::search {
namespace {

// A model of kernels that take one second each. Winner k takes `shares[k]` of its kernel's time,
// and delays other kernels by `harm[k]` seconds.
struct FakeModel {
  std::vector<double> shares, harm;
  // Seconds by which more than `most` winners delay the model, and the first comparison is off.
  double crowd = 0, chance = 0;
  size_t most = 0;
  int comparisons = 0;

  absl::StatusOr<RunPair> Compare(std::vector<Winner>& winners) {
    RunPair pair = {static_cast<double>(shares.size()), static_cast<double>(shares.size())};
    if (comparisons++ == 0) pair.after += chance;
    if (winners.size() > most) pair.after += crowd;
    for (Winner& winner : winners) {
      winner.share = shares[winner.kernel];
      pair.after += shares[winner.kernel] - 1 + harm[winner.kernel];
    }
    return pair;
  }
  std::vector<size_t> Losers() {
    std::vector<Winner> winners(shares.size());
    for (size_t k = 0; k < winners.size(); ++k) winners[k].kernel = k;
    RunPair pair;
    const auto losers = FindLosers(
        winners, [&](std::vector<Winner>& some) { return Compare(some); }, pair);
    EXPECT_TRUE(losers.ok());
    EXPECT_EQ(pair.before, static_cast<double>(shares.size()));
    for (size_t k = 0; k < winners.size(); ++k) EXPECT_EQ(winners[k].share, shares[k]);
    return *losers;
  }
};

using Numbers = std::vector<size_t>;

TEST(FindLosers, KeepsWhatGains) {
  FakeModel model{{0.9, 0.5, 0.97}, {0, 0, 0}};
  EXPECT_EQ(model.Losers(), Numbers());
  EXPECT_EQ(model.comparisons, 1);
}

TEST(FindLosers, DropsKernelsThatAreSlowerInTheModel) {
  FakeModel model{{0.9, 1.2, 0.97, 1}, {0, 0, 0, 0}};
  EXPECT_EQ(model.Losers(), (Numbers{1, 3}));
  EXPECT_EQ(model.comparisons, 1);
}

TEST(FindLosers, BisectsWhatDelaysOthers) {
  FakeModel model{{0.9, 0.9, 0.9, 0.9, 0.9, 0.5}, {0, 0, 2, 0, 0, 0.7}};
  EXPECT_EQ(model.Losers(), (Numbers{2, 5}));
}

TEST(FindLosers, DropsTheLastHalfOfWhatGainsOnlyByParts) {
  FakeModel model{{0.9, 0.9, 0.9, 0.9}, {0, 0, 0, 0}, 1, 0, 2};
  EXPECT_EQ(model.Losers(), (Numbers{2, 3}));
  FakeModel one{{0.9}, {0}, 1};
  EXPECT_EQ(one.Losers(), Numbers{0});
}

TEST(FindLosers, KeepsWhatWasSlowByChance) {
  FakeModel model{{0.9, 0.9}, {0, 0}, 0, 1};
  EXPECT_EQ(model.Losers(), Numbers());
}

TEST(FindLosers, ForwardsErrors) {
  std::vector<Winner> winners(1);
  RunPair pair;
  const auto losers = FindLosers(
      winners,
      [](std::vector<Winner>&) -> absl::StatusOr<RunPair> { return absl::UnknownError("x"); },
      pair);
  EXPECT_EQ(losers.status().message(), "x");
}

}  // namespace
}  // namespace tg::search
