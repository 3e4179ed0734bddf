// Assigns temporary buffers to shared blocks of memory.
//
// A buffer is live from the first step that accesses it to the last. Buffers with overlapping
// lifetimes get different blocks. The assignment is greedy, largest buffer first: each buffer gets
// the smallest block that is free during its lifetime, or a new one. This is "greedy by size" in
// Pisarchyk and Lee, "Efficient memory management for deep neural net inference", 2020. A block
// never grows, since later buffers are smaller.
#ifndef TG_RUNTIME_PLAN_MEMORY_PLAN_H_
#define TG_RUNTIME_PLAN_MEMORY_PLAN_H_

#include <cstddef>
#include <span>
#include <vector>

namespace tg::runtime {

struct Lifetime {
  size_t bytes = 0;
  int first = 0, last = 0;  // steps, both inclusive
};

struct MemoryBytes {
  size_t separate_bytes = 0;  // total if no buffers share memory
  size_t planned_bytes = 0;   // sum of the block sizes
  size_t live_bytes = 0;      // maximum live bytes at one step: a lower bound for every plan
};

struct MemoryPlan : MemoryBytes {
  std::vector<int> block_of;  // by lifetime, in the given order
  std::vector<size_t> block_bytes;
};

MemoryPlan PlanMemory(std::span<const Lifetime> lifetimes);

}  // namespace tg::runtime

#endif  // TG_RUNTIME_PLAN_MEMORY_PLAN_H_
