// Treats predicates as conjunctions, whose operands can be listed and dropped.
#ifndef TG_PASSES_INDICES_PREDICATES_H_
#define TG_PASSES_INDICES_PREDICATES_H_

#include <vector>

#include "ir/builder.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace tg::indices {

// All predicates that hold if `condition` holds: `condition` itself and, recursively, the operands
// of conjunctions.
std::vector<const UOp*> PartsOf(const UOp* condition);

// `condition` without the conjuncts for which `drop` returns true. Null if no conjunct is left.
const UOp* Without(Builder& b, const UOp* condition, llvm::function_ref<bool(const UOp*)> drop);

}  // namespace tg::indices

#endif  // TG_PASSES_INDICES_PREDICATES_H_
