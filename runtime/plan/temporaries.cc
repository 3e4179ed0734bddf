#include "runtime/plan/temporaries.h"

#include "runtime/base/status.h"
#include "runtime/plan/extents.h"

namespace tg::runtime {
namespace {

// The lifetimes of the buffers that are temporaries, or of the others.
absl::StatusOr<std::map<int, Lifetime>> LivesOf(const Module& module,
                                                std::span<const ScheduledKernel> schedule,
                                                bool temporary) {
  std::map<int, Lifetime> lives;
  for (size_t step = 0; step < schedule.size(); ++step) {
    for (const BufferSlice& slice : schedule[step].buffers) {
      const BufferDecl& decl = module.buffers[static_cast<size_t>(slice.buffer)];
      if ((decl.role == Role::kTemp) != temporary) continue;
      const auto [life, is_new] = lives.try_emplace(slice.buffer);
      if (is_new) {
        TG_ASSIGN_OR_RETURN(life->second.bytes, BufferBytes(module, decl));
        life->second.first = static_cast<int>(step);
      }
      life->second.last = static_cast<int>(step);
    }
  }
  return lives;
}

}  // namespace

absl::StatusOr<std::map<std::string, Temporaries>> PlanTemporaries(
    const Module& module, std::span<const ScheduledKernel> schedule) {
  TG_ASSIGN_OR_RETURN(const auto lives, LivesOf(module, schedule, /*temporary=*/true));
  std::map<std::string, Temporaries> found;
  for (const auto& [buffer, life] : lives) {
    Temporaries& there = found[module.buffers[static_cast<size_t>(buffer)].device];
    there.buffers.push_back(buffer);
    there.lives.push_back(life);
  }
  for (auto& [device, there] : found) there.plan = PlanMemory(there.lives);
  return found;
}

absl::StatusOr<std::map<int, Lifetime>> StoredBuffers(const Module& module,
                                                      std::span<const ScheduledKernel> schedule) {
  return LivesOf(module, schedule, /*temporary=*/false);
}

}  // namespace tg::runtime
