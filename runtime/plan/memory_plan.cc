#include "runtime/plan/memory_plan.h"

#include <algorithm>
#include <bit>
#include <iterator>
#include <map>
#include <numeric>
#include <utility>

namespace tg::runtime {
namespace {

// Returns the bytes that are live, by step.
std::vector<size_t> LiveBytes(std::span<const Lifetime> lifetimes) {
  size_t steps = 0;
  for (const Lifetime& life : lifetimes) {
    steps = std::max(steps, static_cast<size_t>(life.last) + 1);
  }
  std::vector<size_t> begins(steps + 1), ends(steps + 1);
  for (const Lifetime& life : lifetimes) {
    begins[static_cast<size_t>(life.first)] += life.bytes;
    ends[static_cast<size_t>(life.last) + 1] += life.bytes;
  }
  size_t live = 0;
  for (size_t step = 0; step < steps; ++step) begins[step] = live += begins[step] - ends[step];
  begins.pop_back();
  return begins;
}

// Numbers with their lifetimes, which finds what is live at the same time as another one.
class LiveNumbers {
 public:
  explicit LiveNumbers(size_t steps)
      : leaves_(std::bit_ceil(std::max<size_t>(steps, 1))),
        starting_(steps),
        covering_(2 * leaves_) {}

  void Add(const Lifetime& life, size_t number) {
    starting_[static_cast<size_t>(life.first)].push_back(number);
    size_t begin = leaves_ + static_cast<size_t>(life.first);
    size_t end = leaves_ + static_cast<size_t>(life.last) + 1;
    for (; begin < end; begin /= 2, end /= 2) {
      if (begin % 2 == 1) covering_[begin++].push_back(number);
      if (end % 2 == 1) covering_[--end].push_back(number);
    }
  }

  // Calls f with each number once: what is live at the first step, then what starts later.
  template <typename F>
  void ForEachLiveWith(const Lifetime& life, F&& f) const {
    for (size_t node = leaves_ + static_cast<size_t>(life.first); node > 0; node /= 2) {
      for (const size_t number : covering_[node]) f(number);
    }
    for (int step = life.first + 1; step <= life.last; ++step) {
      for (const size_t number : starting_[static_cast<size_t>(step)]) f(number);
    }
  }

 private:
  size_t leaves_;
  std::vector<std::vector<size_t>> starting_;  // by step
  // A tree over the steps, whose root is node 1: the nodes that make up a lifetime have its number.
  std::vector<std::vector<size_t>> covering_;
};

// Bytes of one address space. Arena i is its part that begins at i * max_bytes.
struct Extent {
  size_t begin = 0, end = 0;
};

// Returns the first byte of a gap between `taken`, or behind them.
size_t FindGap(std::vector<Extent>& taken, size_t bytes, const ArenaLimits& limits, size_t span) {
  const auto fitting = [&](size_t begin) {
    begin = (begin + limits.alignment - 1) / limits.alignment * limits.alignment;
    // No buffer is in two arenas.
    if (begin / span == (begin + bytes - 1) / span || begin % span == 0) return begin;
    return (begin / span + 1) * span;
  };
  std::sort(taken.begin(), taken.end(),
            [](const Extent& a, const Extent& b) { return a.begin < b.begin; });
  size_t end = 0, best = 0, best_size = SIZE_MAX;
  for (const Extent& extent : taken) {
    const size_t begin = fitting(end);
    if (begin + bytes <= extent.begin && extent.begin - end < best_size) {
      best = begin;
      best_size = extent.begin - end;
    }
    end = std::max(end, extent.end);
  }
  return best_size == SIZE_MAX ? fitting(end) : best;
}

// Places the buffers one after the other. Sets `places` and `arena_bytes`.
void PlaceInOrder(std::span<const Lifetime> lifetimes, std::span<const size_t> order, size_t steps,
                  const ArenaLimits& limits, MemoryPlan& plan) {
  size_t largest = 0;
  for (const Lifetime& life : lifetimes) largest = std::max(largest, life.bytes);
  // An arena begins at an aligned byte. A buffer that is larger than an arena may be is alone in
  // one, which the device refuses.
  const size_t units =
      std::max<uint64_t>(limits.max_bytes / limits.alignment, largest / limits.alignment + 1);
  const size_t span = units * limits.alignment;
  LiveNumbers placed(steps);
  std::vector<Extent> extents(lifetimes.size()), taken;
  plan.places.resize(lifetimes.size());
  for (const size_t i : order) {
    const Lifetime& life = lifetimes[i];
    taken.clear();
    placed.ForEachLiveWith(life, [&](size_t k) { taken.push_back(extents[k]); });
    const size_t bytes = std::max<size_t>(life.bytes, 1);
    const size_t begin = FindGap(taken, bytes, limits, span);
    extents[i] = {begin, begin + bytes};
    placed.Add(life, i);
    MemoryPlan::Place& place = plan.places[i];
    place = {begin / span, begin % span};
    if (place.arena >= plan.arena_bytes.size()) plan.arena_bytes.resize(place.arena + 1);
    size_t& arena = plan.arena_bytes[place.arena];
    arena = std::max(arena, place.offset + bytes);
  }
  plan.planned_bytes = std::accumulate(plan.arena_bytes.begin(), plan.arena_bytes.end(), size_t{0});
}

// Places each buffer at the beginning of a block. Sets `places` and `arena_bytes`.
void PlaceInBlocks(std::span<const Lifetime> lifetimes, MemoryPlan& plan) {
  std::vector<size_t> order(lifetimes.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return lifetimes[a].bytes > lifetimes[b].bytes; });
  plan.places.resize(lifetimes.size());
  std::vector<std::map<int, int>> blocks;  // last step by first step, of a block's buffers
  for (const size_t i : order) {
    const Lifetime& life = lifetimes[i];
    const auto is_free = [&](const std::map<int, int>& lives) {
      const auto after = lives.upper_bound(life.last);  // the first that begins after it
      return after == lives.begin() || std::prev(after)->second < life.first;
    };
    // Blocks were made in order of decreasing size, so the last free one is the smallest.
    size_t b = blocks.size();
    for (size_t k = blocks.size(); k-- > 0 && b == blocks.size();) {
      if (is_free(blocks[k])) b = k;
    }
    if (b == blocks.size()) {
      blocks.emplace_back();
      plan.arena_bytes.push_back(std::max<size_t>(life.bytes, 1));
    }
    blocks[b][life.first] = life.last;
    plan.places[i] = {b, 0};
  }
  plan.planned_bytes = std::accumulate(plan.arena_bytes.begin(), plan.arena_bytes.end(), size_t{0});
}

}  // namespace

MemoryPlan PlanMemory(std::span<const Lifetime> lifetimes, const ArenaLimits& limits) {
  const std::vector<size_t> live = LiveBytes(lifetimes);
  // The orders, by what comes before a buffer's bytes: nothing, the most bytes that are live with
  // it, the steps in which it is live.
  std::vector<size_t> keys[3];
  for (const Lifetime& life : lifetimes) {
    const auto begin = live.begin() + life.first;
    keys[0].push_back(0);
    keys[1].push_back(*std::max_element(begin, live.begin() + life.last + 1));
    keys[2].push_back(static_cast<size_t>(life.last - life.first));
  }
  MemoryPlan best;
  if (!limits.has_parts) PlaceInBlocks(lifetimes, best);
  for (const std::vector<size_t>& key : keys) {
    if (!limits.has_parts) break;
    std::vector<size_t> order(lifetimes.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
      return key[a] != key[b] ? key[a] > key[b] : lifetimes[a].bytes > lifetimes[b].bytes;
    });
    MemoryPlan plan;
    PlaceInOrder(lifetimes, order, live.size(), limits, plan);
    if (&key == &keys[0] || plan.planned_bytes < best.planned_bytes) best = std::move(plan);
  }
  for (const Lifetime& life : lifetimes) best.separate_bytes += life.bytes;
  for (const size_t bytes : live) best.live_bytes = std::max(best.live_bytes, bytes);
  return best;
}

}  // namespace tg::runtime
