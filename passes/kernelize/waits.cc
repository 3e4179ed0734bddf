#include "passes/kernelize/waits.h"

#include <algorithm>

#include "base/check.h"
#include "ir/measure.h"
#include "passes/kernelize/hazards.h"

namespace tg::kernelize {

Waits::Waits(const std::vector<KernelDraft>& drafts) : drafts_(drafts.size()) {
  std::vector<const UOp*> joins;
  for (size_t i = 0; i < drafts.size(); ++i) {
    for (const UOp* u : drafts[i].nodes) number_[u] = i + 1;
  }
  const auto add = [&](size_t v, const UOp* s) {
    size_t& number = number_[s];
    if (number == 0) {
      joins.push_back(s);
      number = drafts_ + joins.size();
    }
    before_[v].push_back(number - 1);
  };
  before_.resize(drafts_);
  for (size_t i = 0; i < drafts_; ++i) {
    const KernelDraft& d = drafts[i];
    for (const UOp* s : d.inputs) add(i, s);
    for (const UOp* s : d.vars) {
      if (IsMeasure(s)) add(i, s->src(1));
    }
    for (size_t n = 0; n < d.nodes.size(); ++n) {
      if (d.targets[n]) add(i, d.targets[n]);
      if (d.nodes[n]->op != Op::kAssign) continue;
      for (const UOp* s : d.nodes[n]->srcs().subspan(2)) add(i, s);
    }
  }
  for (size_t j = 0; j < joins.size(); ++j) {
    before_.emplace_back();
    for (const UOp* s : joins[j]->srcs()) add(drafts_ + j, s);
  }
}

Waits::Waits(const std::vector<KernelDraft>& drafts, const WriteAfterRead& order) : Waits(drafts) {
  for (size_t i = 0; i < drafts_; ++i) {
    before_[i].insert(before_[i].end(), order.drafts[i].begin(), order.drafts[i].end());
  }
  for (const UOp* w : order.writers) {
    const size_t v = VertexOf(w);
    if (v == kNone) continue;
    const std::vector<size_t>& readers = order.stored.Get(w);
    before_[v].insert(before_[v].end(), readers.begin(), readers.end());
  }
  for (const std::vector<size_t>& together : order.together) {
    std::vector<size_t> all;
    for (size_t i : together) all.insert(all.end(), before_[i].begin(), before_[i].end());
    for (size_t i : together) before_[i] = all;
  }
}

std::vector<size_t> Waits::Levels() const {
  std::vector<size_t> level(before_.size());  // of what joins: the kernels on the way through it
  for (const std::vector<size_t>& component : Components(before_)) {
    TG_CHECK(component.size() == 1);
    const size_t v = component[0];
    for (size_t k : before_[v]) {
      TG_CHECK(k != v);
      level[v] = std::max(level[v], level[k] + (k < drafts_ ? 1 : 0));
    }
  }
  level.resize(drafts_);
  return level;
}

std::vector<std::vector<size_t>> Components(const std::vector<std::vector<size_t>>& before) {
  const size_t n = before.size();
  // Tarjan's numbers. `met`: the order in which vertices are visited, from 1. `low`: the earliest
  // open vertex that the vertex is known to reach.
  std::vector<size_t> met(n), low(n), next(n);
  std::vector<bool> is_open(n);
  std::vector<size_t> open, path;
  std::vector<std::vector<size_t>> out;
  size_t clock = 0;
  for (size_t root = 0; root < n; ++root) {
    if (met[root] != 0) continue;
    path.push_back(root);
    while (!path.empty()) {
      const size_t v = path.back();
      if (met[v] == 0) {
        met[v] = low[v] = ++clock;
        open.push_back(v);
        is_open[v] = true;
      }
      if (next[v] < before[v].size()) {
        const size_t k = before[v][next[v]++];
        if (met[k] == 0) {
          path.push_back(k);
        } else if (is_open[k]) {
          low[v] = std::min(low[v], met[k]);
        }
        continue;
      }
      path.pop_back();
      if (!path.empty()) low[path.back()] = std::min(low[path.back()], low[v]);
      if (low[v] != met[v]) continue;
      const auto first = std::find(open.rbegin(), open.rend(), v).base() - 1;
      std::vector<size_t>& component = out.emplace_back(first, open.end());
      open.erase(first, open.end());
      for (size_t k : component) is_open[k] = false;
      std::sort(component.begin(), component.end());
    }
  }
  return out;
}

}  // namespace tg::kernelize
