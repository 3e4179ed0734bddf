#include "runtime/plan/queue_waits.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>

namespace tg::runtime {
namespace {

// Accesses to one piece of memory. For each queue: 1 + the number of its last command that wrote
// the memory, and of its last command that read it since.
struct Accesses {
  std::map<int, size_t> write, reads;
};

}  // namespace

std::vector<std::vector<int>> PiecesOf(std::span<const MemoryRange> ranges) {
  std::map<const void*, std::set<size_t>> borders;
  for (const MemoryRange& range : ranges) borders[range.memory].insert({range.begin, range.end});
  std::map<const void*, int> first;  // the number of the piece at the first border
  int next = 0;
  for (const auto& [memory, all] : borders) {
    first[memory] = next;
    next += static_cast<int>(all.size());
  }
  std::vector<std::vector<int>> pieces;
  for (const MemoryRange& range : ranges) {
    const std::set<size_t>& all = borders[range.memory];
    auto at = all.find(range.begin);
    int number = first[range.memory] + static_cast<int>(std::distance(all.begin(), at));
    std::vector<int>& numbers = pieces.emplace_back();
    for (; *at < range.end; ++at) numbers.push_back(number++);
  }
  return pieces;
}

std::vector<std::vector<size_t>> FindWaits(std::span<const Command> commands) {
  std::map<int, Accesses> memory;
  // For each queue: the command, as 1 + its number, that each other queue has finished at least
  // when the queue's next command starts. A wait also transfers what was known when the awaited
  // command was enqueued.
  std::map<int, std::map<int, size_t>> known;
  std::vector<std::map<int, size_t>> known_at(commands.size());
  std::vector<std::vector<size_t>> waits(commands.size());
  for (size_t i = 0; i < commands.size(); ++i) {
    const Command& c = commands[i];
    std::map<int, size_t> needs;  // by queue
    const auto need = [&](const std::map<int, size_t>& accesses) {
      for (const auto& [queue, command] : accesses) {
        if (queue != c.queue) needs[queue] = std::max(needs[queue], command);
      }
    };
    for (const int m : c.reads) need(memory[m].write);
    for (const int m : c.writes) {
      need(memory[m].write);
      need(memory[m].reads);
    }
    std::map<int, size_t>& here = known[c.queue];
    // The latest command comes first, because waiting for it may imply the other waits.
    std::vector<std::pair<size_t, int>> order;
    for (const auto& [queue, command] : needs) order.emplace_back(command, queue);
    std::sort(order.rbegin(), order.rend());
    for (const auto& [command, queue] : order) {
      if (here[queue] >= command) continue;
      waits[i].push_back(command - 1);
      here[queue] = command;
      for (const auto& [other, done] : known_at[command - 1]) {
        here[other] = std::max(here[other], done);
      }
    }
    std::sort(waits[i].begin(), waits[i].end());
    known_at[i] = here;
    for (const int m : c.reads) memory[m].reads[c.queue] = i + 1;
    for (const int m : c.writes) {
      memory[m].write = {{c.queue, i + 1}};
      memory[m].reads.clear();
    }
  }
  return waits;
}

}  // namespace tg::runtime
