#include "passes/analysis/loop_sets.h"

#include <set>
#include <utility>

#include "passes/analysis/indexing.h"

namespace tg {

LoopSet UnionOf(const std::vector<LoopSet>& sets) {
  LoopSet all = 0;
  for (LoopSet s : sets) all |= s;
  return all;
}

std::vector<LoopSet> LoopsThrough(const UOp* u, const Shape& from, const Shape& to,
                                  const std::vector<LoopSet>& at) {
  std::vector<LoopSet> out(from.size(), 0);
  switch (u->op) {
    case Op::kReshape:
      for (const ReshapeGroup& g : GroupReshape(from, to)) {
        LoopSet all = 0;
        for (size_t k = g.to_begin; k < g.to_end; ++k) all |= at[k];
        for (size_t k = g.from_begin; k < g.from_end; ++k) out[k] = from[k].Is(1) ? 0 : all;
      }
      return out;
    case Op::kExpand:
      for (size_t k = 0; k < from.size(); ++k) out[k] = from[k] == to[k] ? at[k] : 0;
      return out;
    case Op::kPermute:
      for (size_t k = 0; k < to.size(); ++k) out[static_cast<size_t>(u->list(0)[k])] = at[k];
      return out;
    case Op::kFlip:
    case Op::kPad:
    case Op::kShrink:
      return at;
    default:
      out.assign(from.size(), UnionOf(at));
      return out;
  }
}

std::vector<LoopSet> ReduceDependence(const Body& body, const std::vector<BaseAxis>& axes,
                                      ShapeMap& shapes) {
  std::vector<LoopSet> out(axes.size(), 0);
  using Sets = std::vector<LoopSet>;
  std::set<std::pair<uint32_t, Sets>> seen;
  std::vector<std::pair<const UOp*, Sets>> work;
  const auto push = [&](const UOp* u, Sets at) {
    if (shapes.Of(u).empty()) at.clear();
    if (seen.emplace(u->id, at).second) work.emplace_back(u, std::move(at));
  };
  for (const UOp* store : body.root->srcs()) {
    Sets at(shapes.Of(store->src(0)).size(), 0);
    for (size_t i = 0; i < axes.size(); ++i) {
      if (!axes[i].reduce) at[axes[i].dim] = LoopBit(i);
    }
    push(store->src(1), std::move(at));
  }
  while (!work.empty()) {
    auto [u, at] = std::move(work.back());
    work.pop_back();
    if (u->op == Op::kLoad) continue;
    if (IsMovement(u->op)) {
      push(u->src(0), LoopsThrough(u, shapes.Of(u->src(0)), shapes.Of(u), at));
    } else if (u->op == Op::kReduceAxis) {
      const LoopSet loops = UnionOf(at);
      for (int64_t k : u->list(1)) at[static_cast<size_t>(k)] = 0;
      for (size_t i = 0; i < axes.size(); ++i) {
        if (axes[i].reduce != u) continue;
        out[i] |= loops;
        at[axes[i].dim] = LoopBit(i);
      }
      push(u->src(0), std::move(at));
    } else {
      for (const UOp* s : u->srcs()) push(s, at);
    }
  }
  return out;
}

}  // namespace tg
