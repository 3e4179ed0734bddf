// Distributes the work-groups of a fused launch to its parts (the member kernels).
#ifndef TG_PASSES_HFUSE_DEAL_H_
#define TG_PASSES_HFUSE_DEAL_H_

#include <cstdint>
#include <span>
#include <vector>

#include "ir/builder.h"
#include "ir/uop.h"
#include "llvm/ADT/STLExtras.h"

namespace tg {

// A work-group's position in one part's grid, and whether the group belongs to that part.
struct DealtPlace {
  const UOp* number = nullptr;
  const UOp* is_own = nullptr;
};

// The work-groups of a part.
struct GroupsOfPart {
  int64_t count = 0;
  double seconds = 0;  // per group
};

// The number of runs with which `num_cores` cores finish all groups earliest. A device hands runs
// of neighbouring groups to idle cores, so runs of equal length should have equal work. Among
// almost equal choices, the fewest runs are taken, so that a core rarely switches from one part to
// another.
int64_t ChooseRuns(std::span<const GroupsOfPart> parts, int64_t num_cores);

// The position of group number `group` of the fused launch, by part; there are at least two parts.
// The groups form `num_runs` runs of about equal size. Each run has a proportional share of each
// part, with the first part's groups first. `add` receives each new node, sources first.
std::vector<DealtPlace> DealGroups(Builder& b, const UOp* group,
                                   std::span<const GroupsOfPart> parts, int64_t num_runs,
                                   llvm::function_ref<void(const UOp*)> add);

}  // namespace tg

#endif  // TG_PASSES_HFUSE_DEAL_H_
