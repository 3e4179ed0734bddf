// Predicates as conjunctions.
#ifndef TG_PASSES_LOWER_PREDICATES_H_
#define TG_PASSES_LOWER_PREDICATES_H_

#include <vector>

#include "ir/builder.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace tg {

// What must hold for `condition` to: itself, and where it is a conjunction its parts.
std::vector<const UOp*> PartsOf(const UOp* condition);

// `condition` without the parts of it that `drop` is true for; null: none is left.
const UOp* Without(Builder& b, const UOp* condition, llvm::function_ref<bool(const UOp*)> drop);

}  // namespace tg

#endif  // TG_PASSES_LOWER_PREDICATES_H_
