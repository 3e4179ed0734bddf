#include "passes/analysis/places.h"

#include <algorithm>
#include <utility>

#include "ir/walk.h"

namespace tg {
namespace {

// By axis of a value.
using Places = std::vector<AxisLoops>;

// A walk from the stores to the loads that meets a node after all of its users.
class Walk {
 public:
  Walk(const Body& body, const std::vector<BaseAxis>& axes, ShapeMap& shapes)
      : axes_(axes), shapes_(shapes), order_(PostOrder(body.root)) {
    for (const UOp* store : body.root->srcs()) {
      Places at(shapes.Of(store->src(0)).size());
      for (size_t i = 0; i < axes.size(); ++i) {
        if (axes[i].IsStored()) at[axes[i].dim] = CountedBy(i, axes[i].size);
      }
      Push(store->src(1), std::move(at));
    }
  }

  // Calls `visit(u, ways)` for each value but loads; `visit` may change the ways in which it is
  // read, which are those of its sources then.
  template <typename Visit>
  void Run(Visit visit) {
    for (auto it = order_.rbegin(); it != order_.rend(); ++it) {
      const UOp* u = *it;
      if (u->op == Op::kLoad || ways_.Get(u).empty()) continue;
      std::vector<Places> ways = std::move(ways_[u]);
      visit(u, ways);
      for (Places& at : ways) Continue(u, std::move(at));
    }
  }

 private:
  void Push(const UOp* u, Places at) {
    if (shapes_.Of(u).empty()) at.clear();
    std::vector<Places>& known = ways_[u];
    if (std::find(known.begin(), known.end(), at) == known.end()) known.push_back(std::move(at));
  }

  void Continue(const UOp* u, Places at) {
    if (IsMovement(u->op)) {
      Push(u->src(0), LoopsThrough(u, shapes_.Of(u->src(0)), shapes_.Of(u), at));
    } else if (u->op == Op::kReduceAxis) {
      for (int64_t k : u->list(1)) at[static_cast<size_t>(k)] = {};
      for (size_t i = 0; i < axes_.size(); ++i) {
        if (axes_[i].reduce == u) at[axes_[i].dim] = CountedBy(i, axes_[i].size);
      }
      Push(u->src(0), std::move(at));
    } else {
      for (const UOp* s : u->srcs()) Push(s, at);
    }
  }

  const std::vector<BaseAxis>& axes_;
  ShapeMap& shapes_;
  const std::vector<const UOp*> order_;
  NodeMap<std::vector<Places>> ways_;
};

LoopSet StoredLoops(const std::vector<BaseAxis>& axes) {
  LoopSet stored = 0;
  for (size_t i = 0; i < axes.size(); ++i) stored |= axes[i].IsStored() ? LoopBit(i) : 0;
  return stored;
}

}  // namespace

std::vector<StagedAxis> StagedAxes(const Body& body, const std::vector<BaseAxis>& axes,
                                   ShapeMap& shapes) {
  std::vector<StagedAxis> out;  // users first
  const LoopSet stored = StoredLoops(axes);
  size_t loops = axes.size();
  Walk(body, axes, shapes).Run([&](const UOp* u, std::vector<Places>& ways) {
    if (u->op != Op::kStaged) return;
    const Shape& shape = shapes.Of(u);
    std::vector<const AxisLoops*> along;
    for (size_t k = shape.size(); k-- > 0;) {
      along.clear();
      for (const Places& at : ways) along.push_back(&at[k]);
      if (shape[k].Is(1) || IsCountedAlike(shape[k], along, stored)) continue;
      ways[0][k] = CountedBy(loops++, shape[k]);
      out.push_back({u, k});
    }
    ways.resize(1);
  });
  std::reverse(out.begin(), out.end());
  return out;
}

std::vector<LoopSet> AxisDependence(const Body& body, const std::vector<BaseAxis>& axes,
                                    ShapeMap& shapes) {
  std::vector<LoopSet> out(axes.size(), 0);
  const LoopSet stored = StoredLoops(axes);
  if (std::all_of(axes.begin(), axes.end(), [](const BaseAxis& a) { return a.IsStored(); })) {
    return out;
  }
  Walk(body, axes, shapes).Run([&](const UOp* u, std::vector<Places>& ways) {
    if (u->op == Op::kReduceAxis) {
      LoopSet loops = 0;
      for (const Places& at : ways) loops |= UnionOf(at);
      for (size_t i = 0; i < axes.size(); ++i) out[i] |= axes[i].reduce == u ? loops : 0;
    } else if (u->op == Op::kStaged) {
      ways.resize(1);
      for (size_t i = 0; i < axes.size(); ++i) {
        if (axes[i].staged == u) ways[0][axes[i].dim] = CountedBy(i, axes[i].size);
      }
      const LoopSet loops = UnionOf(ways[0]) & stored;
      for (size_t i = 0; i < axes.size(); ++i) out[i] |= axes[i].staged == u ? loops : 0;
    }
  });
  return out;
}

}  // namespace tg
