#include "runtime/plan/temporaries.h"

#include <utility>

#include "base/status.h"

namespace tg::runtime {
namespace {

// The lifetimes of the buffers that are temporaries, or of the others.
absl::StatusOr<std::map<int, Lifetime>> LivesOf(const Declarations& decls,
                                                std::span<const ScheduledKernel> schedule,
                                                bool temporary, const VarMap& vars) {
  std::map<int, Lifetime> lives;
  for (size_t step = 0; step < schedule.size(); ++step) {
    std::vector<int> used = schedule[step].held;
    for (const BufferSlice& slice : schedule[step].buffers) used.push_back(slice.buffer);
    for (const int buffer : used) {
      const BufferDecl& decl = decls.buffers[static_cast<size_t>(buffer)];
      if ((decl.role == Role::kTemp) != temporary) continue;
      const auto [life, is_new] = lives.try_emplace(buffer);
      if (is_new) {
        const bool is_state = decl.role == Role::kState;
        TG_ASSIGN_OR_RETURN(life->second.bytes,
                            BufferBytes(decls, decl, is_state ? VarMap() : vars));
        life->second.first = static_cast<int>(step);
      }
      life->second.last = static_cast<int>(step);
    }
  }
  return lives;
}

}  // namespace

absl::StatusOr<std::map<std::string, Temporaries>> PlanTemporaries(
    const Declarations& decls, std::span<const ScheduledKernel> schedule, const VarMap& vars,
    const ArenaLimits& limits) {
  TG_ASSIGN_OR_RETURN(const auto lives, LivesOf(decls, schedule, /*temporary=*/true, vars));
  // The planner's offsets do not overflow below this.
  constexpr uint64_t kMost = uint64_t{1} << 60;
  uint64_t sum = 0;
  for (const auto& [buffer, life] : lives) {
    if (life.bytes < kMost) sum += life.bytes + limits.alignment;
    if (life.bytes < kMost && sum < kMost) continue;
    return InvalidArgument("the temporaries up to @",
                           decls.buffers[static_cast<size_t>(buffer)].name,
                           " have more bytes than any memory");
  }
  std::map<std::string, Temporaries> found;
  for (const auto& [buffer, life] : lives) {
    Temporaries& there = found[decls.buffers[static_cast<size_t>(buffer)].device];
    there.buffers.push_back(buffer);
    there.lives.push_back(life);
  }
  for (auto& [device, there] : found) there.plan = PlanMemory(there.lives, limits);
  return found;
}

absl::StatusOr<std::map<int, Lifetime>> StoredBuffers(const Declarations& decls,
                                                      std::span<const ScheduledKernel> schedule,
                                                      const VarMap& vars) {
  return LivesOf(decls, schedule, /*temporary=*/false, vars);
}

VarMap WithoutBound(std::span<const ScheduledKernel> schedule, VarMap vars) {
  for (const ScheduledKernel& item : schedule) {
    for (const VarUse& var : item.vars) {
      if (var.bound) vars.erase(var.name);
    }
  }
  return vars;
}

absl::StatusOr<std::map<std::string, GraphMemory>> MemoryOf(
    const Declarations& decls, std::span<const ScheduledGraph* const> graphs, const VarMap& vars) {
  std::map<std::string, GraphMemory> by_device;
  for (const ScheduledGraph* graph : graphs) {
    const std::vector<ScheduledKernel>& schedule = graph->steps;
    const VarMap fixed = WithoutBound(schedule, vars);
    TG_ASSIGN_OR_RETURN(const auto stored, StoredBuffers(decls, schedule, fixed));
    for (const auto& [buffer, life] : stored) {
      GraphMemory& there = by_device[decls.buffers[static_cast<size_t>(buffer)].device];
      if (there.buffers.try_emplace(buffer, life.bytes).second) there.stored_bytes += life.bytes;
    }
    TG_ASSIGN_OR_RETURN(const auto temporaries, PlanTemporaries(decls, schedule, fixed));
    for (const auto& [device, own] : temporaries) {
      GraphMemory& there = by_device[device];
      there.temporary_bytes += own.plan.planned_bytes;
      for (size_t i = 0; i < own.buffers.size(); ++i) {
        there.buffers.try_emplace(own.buffers[i], own.lives[i].bytes);
      }
    }
  }
  return by_device;
}

}  // namespace tg::runtime
