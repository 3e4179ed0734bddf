// Detects isomorphic stores: stores of one kernel that differ only in their arguments.
#ifndef TG_PASSES_LOWER_ISOMORPHIC_STORES_H_
#define TG_PASSES_LOWER_ISOMORPHIC_STORES_H_

#include <optional>
#include <vector>

#include "ir/module.h"
#include "passes/analysis/kernel_schedule.h"

namespace tg {

// For an argument that the first store reads or writes: the corresponding argument of each store.
using Correspondence = std::vector<const UOp*>;

// The counterparts of each argument of the first store, except for arguments that all stores share.
// nullopt if the stores differ in more than arguments of equal type, or if directives treat them
// differently.
std::optional<std::vector<Correspondence>> FindIsomorphicStores(const Body& body,
                                                                const Schedule& schedule);

}  // namespace tg

#endif  // TG_PASSES_LOWER_ISOMORPHIC_STORES_H_
