#include "passes/analysis/id_pair.h"

#include <cstddef>
#include <vector>

#include "gtest/gtest.h"

namespace tg::analysis {
namespace {

// The probes that a DenseMap of `capacity` slots makes to insert `n` keys.
template <typename Key, typename MakeKey>
size_t Probes(size_t n, size_t capacity, MakeKey make) {
  std::vector<bool> taken(capacity);
  size_t probes = 0;
  for (size_t i = 0; i < n; ++i) {
    size_t at = llvm::DenseMapInfo<Key>::getHashValue(make(static_cast<uint32_t>(i)));
    for (size_t step = 1;; ++step) {
      ++probes;
      at &= capacity - 1;
      if (!taken[at]) break;
      at += step;
    }
    taken[at] = true;
  }
  return probes;
}

constexpr size_t kKeys = 3000, kCapacity = 4096;

// All nodes of a chain have one position, and one node may have many.
TEST(IdPair, ProbesAreLinearInTheKeys) {
  const auto first = [](uint32_t i) { return IdPair{i, 7}; };
  const auto second = [](uint32_t i) { return IdPair{7, i}; };
  const auto both = [](uint32_t i) { return IdPair{i, i}; };
  EXPECT_LT((Probes<IdPair>(kKeys, kCapacity, first)), 3 * kKeys);
  EXPECT_LT((Probes<IdPair>(kKeys, kCapacity, second)), 3 * kKeys);
  EXPECT_LT((Probes<IdPair>(kKeys, kCapacity, both)), 3 * kKeys);
}

// Why the two are not one number.
TEST(IdPair, OneNumberIsHashedByItsLowerHalf) {
  const auto upper = [](uint32_t i) { return uint64_t{i} << 32 | 7; };
  EXPECT_EQ((Probes<uint64_t>(kKeys, kCapacity, upper)), kKeys * (kKeys + 1) / 2);
}

}  // namespace
}  // namespace tg::analysis
