// Distributes the work-groups of a fused launch to its members (the member kernels).
#ifndef TG_PASSES_HORIZONTAL_FUSION_PARTITION_GRID_H_
#define TG_PASSES_HORIZONTAL_FUSION_PARTITION_GRID_H_

#include <cstdint>
#include <span>
#include <vector>

#include "ir/builder.h"
#include "ir/uop.h"
#include "llvm/ADT/STLExtras.h"

namespace tg {

// A work-group's position in one member's grid, and whether the group belongs to that member.
struct GridSlice {
  const UOp* number = nullptr;
  const UOp* is_own = nullptr;
};

// The work-groups of a member.
struct MemberGroups {
  int64_t count = 0;
  double seconds = 0;  // per group
};

// The number of runs with which `num_cores` cores finish all groups earliest. A device hands runs
// of neighbouring groups to idle cores, so runs of equal length should have equal work. Among
// almost equal choices, the fewest runs are taken, so that a core rarely switches from one member
// to another.
int64_t ChooseRuns(std::span<const MemberGroups> members, int64_t num_cores);

// The position of group number `group` of the fused launch, by member; there are at least two
// members. The groups form `num_runs` runs of about equal size. Each run has a proportional share
// of each member, with the first member's groups first. `add` receives each new node, sources
// first.
std::vector<GridSlice> PartitionGrid(Builder& b, const UOp* group,
                                     std::span<const MemberGroups> members, int64_t num_runs,
                                     llvm::function_ref<void(const UOp*)> add);

}  // namespace tg

#endif  // TG_PASSES_HORIZONTAL_FUSION_PARTITION_GRID_H_
