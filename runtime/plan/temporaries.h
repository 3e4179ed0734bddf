// The memory that a graph's run needs, from its schedule alone: no device is required. All sizes
// are those of BufferBytes (extents.h), with the variables' values in `vars`.
#ifndef TG_RUNTIME_PLAN_TEMPORARIES_H_
#define TG_RUNTIME_PLAN_TEMPORARIES_H_

#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "ir/decls.h"
#include "runtime/plan/executable.h"
#include "runtime/plan/extents.h"
#include "runtime/plan/memory_plan.h"

namespace tg::runtime {

// The temporaries of a schedule on one device, their lifetimes, and their places in arenas.
struct Temporaries {
  std::vector<int> buffers;     // indices in Declarations::buffers
  std::vector<Lifetime> lives;  // parallel to `buffers`
  MemoryPlan plan;
};

// Returns the temporaries by device name. InvalidArgument if their bytes cannot be counted.
absl::StatusOr<std::map<std::string, Temporaries>> PlanTemporaries(
    const Declarations& decls, std::span<const ScheduledKernel> schedule, const VarMap& vars = {},
    const ArenaLimits& limits = {});

// Returns the other buffers that the schedule uses, with their first and last step, by index in
// Declarations::buffers. A state has its greatest size whatever the variables are.
absl::StatusOr<std::map<int, Lifetime>> StoredBuffers(const Declarations& decls,
                                                      std::span<const ScheduledKernel> schedule,
                                                      const VarMap& vars = {});

// Returns the variables without the ones that the schedule binds, which may have several values.
VarMap WithoutBound(std::span<const ScheduledKernel> schedule, VarMap vars);

// For functions that take several graphs.
inline std::vector<const ScheduledGraph*> AddressesOf(std::span<const ScheduledGraph> graphs) {
  std::vector<const ScheduledGraph*> all;
  for (const ScheduledGraph& graph : graphs) all.push_back(&graph);
  return all;
}

// The memory of several graphs on one device.
struct GraphMemory {
  std::map<int, size_t> buffers;  // bytes by index in Declarations::buffers
  size_t stored_bytes = 0;        // of the buffers that are not temporary
  size_t temporary_bytes = 0;     // of the arenas that each graph's temporaries share
};

// Returns the memory by device name.
absl::StatusOr<std::map<std::string, GraphMemory>> MemoryOf(
    const Declarations& decls, std::span<const ScheduledGraph* const> graphs,
    const VarMap& vars = {});

}  // namespace tg::runtime

#endif  // TG_RUNTIME_PLAN_TEMPORARIES_H_
