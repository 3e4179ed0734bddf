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

// By part, for the group of number `group` of all; `sizes`: how many groups each part has, at least
// two parts. Devices deal runs of neighbouring groups to their cores: of the runs, `num_runs` of
// about the same size, each has its share of each part, the first part's groups first. So a core
// has no more to do than others, and finds in its cache what it would if the parts were launched
// one after the other. `add` is told each node that is made, sources first.
std::vector<DealtPlace> DealGroups(Builder& b, const UOp* group, std::span<const int64_t> sizes,
                                   int64_t num_runs, llvm::function_ref<void(const UOp*)> add);

}  // namespace tg

#endif  // TG_PASSES_HFUSE_DEAL_H_
