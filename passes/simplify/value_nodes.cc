#include "passes/simplify/value_nodes.h"

#include <algorithm>

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallPtrSet.h"

namespace tg::simplify {

bool Contains(const NodeList& nodes, const UOp* u) {
  return std::find(nodes.begin(), nodes.end(), u) != nodes.end();
}

NodeList NodesOf(const UOp* value, size_t most) {
  NodeList out;
  llvm::SmallPtrSet<const UOp*, 32> seen = {value};
  llvm::SmallVector<std::pair<const UOp*, uint32_t>, 16> stack = {{value, 0}};
  while (!stack.empty()) {
    auto& [u, next] = stack.back();
    if (!IsArithmetic(u) || next == u->num_srcs) {
      out.push_back(u);
      if (out.size() > most) return {};
      stack.pop_back();
      continue;
    }
    const UOp* s = u->src(next++);
    if (!seen.insert(s).second) continue;
    if (s->num_srcs == 0) {
      out.push_back(s);
    } else {
      stack.push_back({s, 0});
    }
  }
  return out;
}

const UOp* Replace(rewrite::RuleContext& rc, const NodeList& nodes, const Replacements& to) {
  llvm::SmallDenseMap<const UOp*, const UOp*, 16> changed;
  llvm::SmallVector<const UOp*, 4> srcs;
  for (const UOp* u : nodes) {
    const auto own =
        std::find_if(to.begin(), to.end(), [&](const auto& pair) { return pair.first == u; });
    if (own != to.end()) {
      changed[u] = own->second;
      continue;
    }
    if (changed.empty() || !IsArithmetic(u)) continue;
    srcs.clear();
    bool differs = false;
    for (const UOp* s : u->srcs()) {
      const UOp* with = changed.lookup(s);
      differs |= with != nullptr;
      srcs.push_back(with ? with : s);
    }
    if (differs) {
      changed[u] = rc.ctx.Make(u->op, u->dtype, UOpSpan(srcs.data(), srcs.size()), u->attr);
    }
  }
  const UOp* with = changed.lookup(nodes.back());
  return with ? with : nodes.back();
}

}  // namespace tg::simplify
