// The tree of elementwise ops that computes a value. Each lane of the value depends only on that
// lane of every node in it, so that a condition on the value applies to each lane separately.
// Memory accesses, loops and ops that move lanes are leaves.
#ifndef TG_PASSES_SIMPLIFY_VALUE_NODES_H_
#define TG_PASSES_SIMPLIFY_VALUE_NODES_H_

#include <utility>

#include "ir/uop.h"
#include "llvm/ADT/SmallVector.h"
#include "passes/rewrite/rule_context.h"

namespace tg::simplify {

inline bool IsArithmetic(const UOp* u) { return IsElementwise(u->op); }

using NodeList = llvm::SmallVector<const UOp*, 32>;
bool Contains(const NodeList& nodes, const UOp* u);

// The nodes of a value, sources first and the value last, including leaves. Empty if there are more
// than `most`.
NodeList NodesOf(const UOp* value, size_t most = 512);

using Replacements = llvm::SmallVector<std::pair<const UOp*, const UOp*>, 8>;

// The last of `nodes`, with each `first` of `to` replaced by its `second`. `nodes` must contain all
// nodes that the last one is computed from.
const UOp* Replace(rewrite::RuleContext& rc, const NodeList& nodes, const Replacements& to);

}  // namespace tg::simplify

#endif  // TG_PASSES_SIMPLIFY_VALUE_NODES_H_
