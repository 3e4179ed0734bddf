// Which temporary buffers share memory.
//
// A buffer lives from the first step that touches it to the last. Two whose lives overlap get
// different blocks. Blocks are dealt greedily, the largest buffer first, each to the smallest block
// that is free during its life, else to a new one: the "greedy by size" of Pisarchyk and Lee,
// "Efficient memory management for deep neural net inference", 2020. A block never grows, since
// later buffers are smaller.
#ifndef TG_RUNTIME_PLAN_MEMORY_PLAN_H_
#define TG_RUNTIME_PLAN_MEMORY_PLAN_H_

#include <cstddef>
#include <span>
#include <vector>

namespace tg::runtime {

struct Lifetime {
  size_t bytes = 0;
  int first = 0, last = 0;  // steps, both included
};

struct MemoryBytes {
  size_t separate_bytes = 0;  // if every buffer had its own
  size_t planned_bytes = 0;   // the sum of blocks
  size_t live_bytes = 0;      // the most that live at one step: no plan needs less
};

struct MemoryPlan : MemoryBytes {
  std::vector<int> block_of;  // of each lifetime, in the order given
  std::vector<size_t> block_bytes;
};

MemoryPlan PlanMemory(std::span<const Lifetime> lifetimes);

}  // namespace tg::runtime

#endif  // TG_RUNTIME_PLAN_MEMORY_PLAN_H_
