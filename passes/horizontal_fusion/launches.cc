#include "passes/horizontal_fusion/launches.h"

#include <algorithm>

namespace tg {
namespace {

bool IsLaunch(const UOp* u) { return u->op == Op::kKernel || u->op == Op::kCopy; }

}  // namespace

Launches::Launches(const Graph& graph) {
  const std::vector<const UOp*> nodes = graph.body.Order();
  NodeMap<std::vector<const UOp*>> followers;
  NodeMap<size_t> waiting;  // number of unvisited predecessors
  const auto follows = [&](const UOp* u, const UOp* s) {
    followers[s].push_back(u);
    ++waiting[u];
  };
  for (const UOp* u : nodes) {
    for (const UOp* s : u->srcs()) follows(u, s);
    // What an assign is ordered behind comes before what stores its value.
    if (u->op != Op::kAssign || !IsLaunch(u->src(1))) continue;
    for (const UOp* s : u->srcs().subspan(2)) follows(u->src(1), s);
  }
  std::vector<const UOp*> found;
  for (const UOp* u : nodes) {
    if (waiting.Get(u) == 0) found.push_back(u);
  }
  for (size_t i = 0; i < found.size(); ++i) {
    const UOp* u = found[i];
    if (IsLaunch(u)) ++level_[u];
    for (const UOp* f : followers.Get(u)) {
      level_[f] = std::max(level_.Get(f), level_.Get(u));
      if (--waiting[f] == 0) found.push_back(f);
    }
  }
  if (found.size() != nodes.size()) return;
  order_ = std::move(found);
  std::stable_sort(order_.begin(), order_.end(), [&](const UOp* a, const UOp* b) {
    if (LevelOf(a) != LevelOf(b)) return LevelOf(a) < LevelOf(b);
    return IsLaunch(a) && !IsLaunch(b);
  });
}

}  // namespace tg
