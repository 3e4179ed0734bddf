#include "runtime/plan/hazards.h"

#include <algorithm>
#include <map>

namespace tg::runtime {
namespace {

// Of one piece of memory: by queue, 1 + the last command that wrote it, and that read it since.
struct Accesses {
  std::map<int, size_t> write, reads;
};

}  // namespace

std::vector<std::vector<size_t>> FindWaits(std::span<const Command> commands) {
  std::map<int, Accesses> memory;
  // By queue: what each other queue must at least have done when its next command begins, as 1 +
  // the number of a command. A wait brings what the command waited for knew.
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
    // The latest first: it may bring the others.
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
