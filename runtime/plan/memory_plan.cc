#include "runtime/plan/memory_plan.h"

#include <algorithm>
#include <map>
#include <numeric>

namespace tg::runtime {
namespace {

// Returns the maximum over all steps of the bytes that are live.
size_t MostLive(std::span<const Lifetime> lifetimes) {
  std::map<int, std::pair<size_t, size_t>> changes;  // by step: bytes that begin, that ended
  for (const Lifetime& life : lifetimes) {
    changes[life.first].first += life.bytes;
    changes[life.last + 1].second += life.bytes;
  }
  size_t live = 0, most = 0;
  for (const auto& [step, change] : changes) {
    live = live - change.second + change.first;
    most = std::max(most, live);
  }
  return most;
}

// The disjoint lifetimes of a block's buffers: last step by first step.
class MemoryBlock {
 public:
  bool IsFree(const Lifetime& life) const {
    const auto after = lives_.upper_bound(life.last);  // the first lifetime that begins after it
    return after == lives_.begin() || std::prev(after)->second < life.first;
  }
  void Add(const Lifetime& life) { lives_[life.first] = life.last; }

 private:
  std::map<int, int> lives_;
};

}  // namespace

MemoryPlan PlanMemory(std::span<const Lifetime> lifetimes) {
  MemoryPlan plan;
  plan.block_of.resize(lifetimes.size());
  plan.live_bytes = MostLive(lifetimes);
  std::vector<size_t> order(lifetimes.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return lifetimes[a].bytes > lifetimes[b].bytes; });
  std::vector<MemoryBlock> blocks;
  for (const size_t i : order) {
    const Lifetime& life = lifetimes[i];
    plan.separate_bytes += life.bytes;
    // Blocks were made in order of decreasing size, so the last free one is the smallest.
    size_t b = blocks.size();
    for (size_t k = blocks.size(); k-- > 0 && b == blocks.size();) {
      if (blocks[k].IsFree(life)) b = k;
    }
    if (b == blocks.size()) {
      blocks.emplace_back();
      plan.block_bytes.push_back(life.bytes);
      plan.planned_bytes += life.bytes;
    }
    blocks[b].Add(life);
    plan.block_of[i] = static_cast<int>(b);
  }
  return plan;
}

}  // namespace tg::runtime
