// What commands on several queues have to wait for. Needs no device.
//
// Commands of one queue run in order. One that reads what a command of another queue writes, or
// writes what one of another queue reads or writes, has to wait for it.
#ifndef TG_RUNTIME_PLAN_HAZARDS_H_
#define TG_RUNTIME_PLAN_HAZARDS_H_

#include <cstddef>
#include <span>
#include <vector>

namespace tg::runtime {

struct Command {
  int queue = 0;                   // from 0
  std::vector<int> reads, writes;  // pieces of memory, by number from 0
};

// For each command, in the order in which they are enqueued: earlier commands of other queues that
// it must wait for. Those that the order of the queues and earlier waits imply are left out.
std::vector<std::vector<size_t>> FindWaits(std::span<const Command> commands);

}  // namespace tg::runtime

#endif  // TG_RUNTIME_PLAN_HAZARDS_H_
