// A value as the arithmetic that it is computed by, lane by lane: a condition on it speaks of each
// lane for itself. Memory, loops and what moves lanes are leaves.
#ifndef TG_PASSES_SIMPLIFY_VALUE_NODES_H_
#define TG_PASSES_SIMPLIFY_VALUE_NODES_H_

#include <utility>

#include "ir/uop.h"
#include "llvm/ADT/SmallVector.h"
#include "passes/rewrite/rule_context.h"

namespace tg {

inline bool IsArithmetic(const UOp* u) { return IsElementwise(u->op); }

using NodeList = llvm::SmallVector<const UOp*, 32>;
bool Contains(const NodeList& nodes, const UOp* u);

// The nodes of a value, sources first, leaves included. Empty: more than `most`.
NodeList NodesOf(const UOp* value, size_t most = 512);

using Replacements = llvm::SmallVector<std::pair<const UOp*, const UOp*>, 8>;

// The last of `nodes`, which are all that it is made of, with each `first` of `to` replaced by its
// `second`.
const UOp* Replace(RuleContext& rc, const NodeList& nodes, const Replacements& to);

}  // namespace tg

#endif  // TG_PASSES_SIMPLIFY_VALUE_NODES_H_
