// Whether a kernel's stores do the same with other arguments.
#ifndef TG_PASSES_LOWER_ALIKE_STORES_H_
#define TG_PASSES_LOWER_ALIKE_STORES_H_

#include <optional>
#include <vector>

#include "ir/module.h"
#include "passes/analysis/schedule.h"

namespace tg {

// An argument that the first store reads or writes, and what each store has in its place.
using Counterparts = std::vector<const UOp*>;

// By argument of the first store, its counterparts, of those that are not the same for all; nothing
// where the stores differ in more than arguments of one type, or where the opts concern them in
// different ways.
std::optional<std::vector<Counterparts>> FindAlikeStores(const Body& body,
                                                         const Schedule& schedule);

}  // namespace tg

#endif  // TG_PASSES_LOWER_ALIKE_STORES_H_
