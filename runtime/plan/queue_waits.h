// Finds the waits that commands on several queues need. Needs no device.
//
// Commands of one queue run in order. A command waits for a command of another queue if one of them
// writes memory that the other reads or writes.
#ifndef TG_RUNTIME_PLAN_QUEUE_WAITS_H_
#define TG_RUNTIME_PLAN_QUEUE_WAITS_H_

#include <cstddef>
#include <span>
#include <vector>

namespace tg::runtime {

struct Command {
  int queue = 0;                   // from 0
  std::vector<int> reads, writes;  // numbers of pieces of memory, from 0
};

// Bytes of a piece of memory that a device allocates at once; at least one.
struct MemoryRange {
  const void* memory = nullptr;
  size_t begin = 0, end = 0;
};

// Returns for each range the numbers of the pieces that make it up: two ranges have a number in
// common if they have a byte in common.
std::vector<std::vector<int>> PiecesOf(std::span<const MemoryRange> ranges);

// Returns, for each command in enqueue order, the earlier commands of other queues that it must
// wait for. Waits that the order of the queues and earlier waits imply are omitted.
std::vector<std::vector<size_t>> FindWaits(std::span<const Command> commands);

}  // namespace tg::runtime

#endif  // TG_RUNTIME_PLAN_QUEUE_WAITS_H_
