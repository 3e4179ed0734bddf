// The memory that a graph's run needs, from its schedule alone: no device is required.
#ifndef TG_RUNTIME_PLAN_TEMPORARIES_H_
#define TG_RUNTIME_PLAN_TEMPORARIES_H_

#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "ir/module.h"
#include "runtime/plan/launch_order.h"
#include "runtime/plan/memory_plan.h"

namespace tg::runtime {

// The temporaries of a schedule on one device, their lifetimes, and their blocks.
struct Temporaries {
  std::vector<int> buffers;     // indices in Module::buffers
  std::vector<Lifetime> lives;  // parallel to `buffers`
  MemoryPlan plan;
};

// Returns the temporaries by device name.
absl::StatusOr<std::map<std::string, Temporaries>> PlanTemporaries(
    const Module& module, std::span<const ScheduledKernel> schedule);

// Returns the other buffers that the schedule uses, with their first and last step, by index in
// Module::buffers.
absl::StatusOr<std::map<int, Lifetime>> StoredBuffers(const Module& module,
                                                      std::span<const ScheduledKernel> schedule);

}  // namespace tg::runtime

#endif  // TG_RUNTIME_PLAN_TEMPORARIES_H_
