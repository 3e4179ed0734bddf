#include "frontend/tinygrad/open_scopes.h"

#include <algorithm>

namespace tg::tinygrad {
namespace {

void Merge(OpenScopes::Scopes& to, const OpenScopes::Scopes& from) {
  for (const Node* n : from) {
    const auto at = std::lower_bound(to.begin(), to.end(), n,
                                     [](const Node* a, const Node* b) { return a->id < b->id; });
    if (at == to.end() || *at != n) to.insert(at, n);
  }
}

}  // namespace

OpenScopes::OpenScopes(const Demand& demand) : open_(demand.nodes().size()) {
  for (const Node* n : demand.nodes()) {
    Scopes& open = open_[n->slot];
    const bool reduces = n->op == "REDUCE", assigns = n->op == "ASSIGN" && n->num_srcs > 0;
    if (assigns) assign_[n->src(0)] = n;
    for (size_t i = 0; i < n->num_srcs; ++i) {
      // The sources of a REDUCE after the first are its loops.
      if (n->src(i)->op == "STORE" || (reduces && i > 0)) continue;
      Merge(open, open_[n->src(i)->slot]);
    }
    if (n->op == "RANGE" || n->op == "IF") Merge(open, {n});
    const Node* closes = reduces ? n : assigns ? n->src(0) : nullptr;
    for (size_t i = 1; closes && i < closes->num_srcs; ++i) {
      open.erase(std::remove(open.begin(), open.end(), closes->src(i)), open.end());
    }
  }
}

}  // namespace tg::tinygrad
