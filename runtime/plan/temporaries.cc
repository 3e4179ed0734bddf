#include "runtime/plan/temporaries.h"

#include <utility>

#include "base/status.h"

namespace tg::runtime {
namespace {

// The lifetimes of the buffers that are temporaries, or of the others.
absl::StatusOr<std::map<int, Lifetime>> LivesOf(const Module& module,
                                                std::span<const ScheduledKernel> schedule,
                                                bool temporary, const VarMap& vars) {
  std::map<int, Lifetime> lives;
  for (size_t step = 0; step < schedule.size(); ++step) {
    for (const BufferSlice& slice : schedule[step].buffers) {
      const BufferDecl& decl = module.buffers[static_cast<size_t>(slice.buffer)];
      if ((decl.role == Role::kTemp) != temporary) continue;
      const auto [life, is_new] = lives.try_emplace(slice.buffer);
      if (is_new) {
        const bool is_state = decl.role == Role::kState;
        TG_ASSIGN_OR_RETURN(life->second.bytes,
                            BufferBytes(module, decl, is_state ? VarMap() : vars));
        life->second.first = static_cast<int>(step);
      }
      life->second.last = static_cast<int>(step);
    }
  }
  return lives;
}

}  // namespace

absl::StatusOr<std::map<std::string, Temporaries>> PlanTemporaries(
    const Module& module, std::span<const ScheduledKernel> schedule, const VarMap& vars) {
  TG_ASSIGN_OR_RETURN(const auto lives, LivesOf(module, schedule, /*temporary=*/true, vars));
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
                                                      std::span<const ScheduledKernel> schedule,
                                                      const VarMap& vars) {
  return LivesOf(module, schedule, /*temporary=*/false, vars);
}

VarMap WithoutBound(std::span<const ScheduledKernel> schedule, VarMap vars) {
  for (const ScheduledKernel& item : schedule) {
    for (const VarUse& var : item.vars) {
      if (var.bound) vars.erase(var.name);
    }
  }
  return vars;
}

std::vector<const Graph*> GraphsOfRun(const Module& module, const Graph& graph) {
  std::vector<const Graph*> graphs = {&graph};
  const Graph* init = module.FindGraph(kInitGraph);
  if (init != nullptr && init != &graph) graphs.push_back(init);
  return graphs;
}

absl::StatusOr<std::map<std::string, GraphMemory>> MemoryOf(const Module& module,
                                                            std::span<const Graph* const> graphs,
                                                            const VarMap& vars) {
  std::map<std::string, GraphMemory> by_device;
  for (const Graph* graph : graphs) {
    TG_ASSIGN_OR_RETURN(const std::vector<ScheduledKernel> schedule, MakeSchedule(module, *graph));
    const VarMap fixed = WithoutBound(schedule, vars);
    TG_ASSIGN_OR_RETURN(const auto stored, StoredBuffers(module, schedule, fixed));
    for (const auto& [buffer, life] : stored) {
      GraphMemory& there = by_device[module.buffers[static_cast<size_t>(buffer)].device];
      if (there.buffers.try_emplace(buffer, life.bytes).second) there.stored_bytes += life.bytes;
    }
    TG_ASSIGN_OR_RETURN(const auto temporaries, PlanTemporaries(module, schedule, fixed));
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
