// Which groups of a launch of several parts are whose.
#ifndef TG_PASSES_HFUSE_DEAL_H_
#define TG_PASSES_HFUSE_DEAL_H_

#include <cstdint>
#include <span>
#include <vector>

#include "ir/builder.h"
#include "ir/uop.h"
#include "llvm/ADT/STLExtras.h"

namespace tg {

// Of a group: its number in a part, and whether it is one of that part's.
struct DealtPlace {
  const UOp* number = nullptr;
  const UOp* is_own = nullptr;
};

// Groups of a part.
struct GroupsOfPart {
  int64_t count = 0;
  double seconds = 0;  // of each
};

// The number of runs in which `num_cores` cores are done first with all groups: devices deal runs
// of neighbouring groups to whatever core is free, so each of them should have as much to do as any
// other of its length. Of those that are about as good the fewest, so that a core seldom goes from
// one part to another.
int64_t ChooseRuns(std::span<const GroupsOfPart> parts, int64_t num_cores);

// By part, at least two of them, for the group of number `group` of all. Of the `num_runs` runs, of
// about the same size, each has its share of each part, the first part's groups first. `add` is
// told each node that is made, sources first.
std::vector<DealtPlace> DealGroups(Builder& b, const UOp* group,
                                   std::span<const GroupsOfPart> parts, int64_t num_runs,
                                   llvm::function_ref<void(const UOp*)> add);

}  // namespace tg

#endif  // TG_PASSES_HFUSE_DEAL_H_
