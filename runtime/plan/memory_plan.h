// Places temporary buffers in arenas: blocks of memory that they share.
//
// A buffer is live from the first step that accesses it to the last. Buffers with overlapping
// lifetimes get different bytes. The placement is greedy: each buffer gets the smallest gap that is
// large enough between the buffers that are live with it, or the bytes behind them. Of three
// orders, the one that needs the least is taken: the largest buffer first; those of the step with
// the most live bytes first; the longest-lived first. The first two are "greedy by size for offset
// calculation" and "by breadth" in Pisarchyk and Lee, "Efficient memory management for deep neural
// net inference", 2020.
//
// There is one arena, unless the temporaries need more than a device allocates at once. Without
// parts, an arena is a block that buffers have one after the other, each from its first byte: the
// largest buffer first, and the smallest block that is free.
#ifndef TG_RUNTIME_PLAN_MEMORY_PLAN_H_
#define TG_RUNTIME_PLAN_MEMORY_PLAN_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace tg::runtime {

struct Lifetime {
  size_t bytes = 0;
  int first = 0, last = 0;  // steps, both inclusive
};

// What devices ask of an arena.
struct ArenaLimits {
  size_t alignment = 64;  // of a buffer's first byte: a cache line, or what the device needs
  uint64_t max_bytes = INT64_MAX;  // of an arena with more than one buffer
  bool has_parts = true;           // whether a buffer may be a part of an arena
};

struct MemoryBytes {
  size_t separate_bytes = 0;  // total if no buffers share memory
  size_t planned_bytes = 0;   // sum of the arenas' sizes
  size_t live_bytes = 0;      // maximum live bytes at one step: a lower bound for every plan
};

struct MemoryPlan : MemoryBytes {
  struct Place {
    size_t arena = 0, offset = 0;
    friend bool operator==(const Place&, const Place&) = default;
  };
  std::vector<Place> places;  // by lifetime, in the given order
  std::vector<size_t> arena_bytes;
};

// A buffer of no bytes gets one.
MemoryPlan PlanMemory(std::span<const Lifetime> lifetimes, const ArenaLimits& limits = {});

}  // namespace tg::runtime

#endif  // TG_RUNTIME_PLAN_MEMORY_PLAN_H_
