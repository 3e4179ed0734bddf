#include "passes/analysis/dependence.h"

#include <algorithm>
#include <initializer_list>
#include <utility>

#include "ir/tuple.h"
#include "ir/walk.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"

namespace tg::analysis {
namespace {

// The index at which a value is read, by axis of the value, as sets of loop digits.
using Indices = std::vector<AxisLoops>;

// A walk from the stores towards the nodes with one of `ops`, users before sources. It tracks the
// indices at which each node is read.
class Walk {
 public:
  Walk(UOpSpan order, const std::vector<BaseAxis>& axes, ShapeMap& shapes,
       std::initializer_list<Op> ops)
      : axes_(axes), shapes_(shapes), order_(order) {
    for (const UOp* u : order_) {
      if (llvm::is_contained(ops, u->op) || LeadsOn(u)) wanted_.Insert(u);
    }
    for (const UOp* store : order.back()->srcs()) {
      Indices at(shapes.Of(store->src(0)).size());
      for (size_t i = 0; i < axes.size(); ++i) {
        if (axes[i].IsStored()) at[axes[i].dim] = CountedBy(i, axes[i].size);
      }
      Push(store->src(1), Add(std::move(at)));
    }
  }

  // Calls visit(u, ways) for each node u that is read on the way to a node of `ops`. `ways` has the
  // number (for At) of each distinct index at which u is read. `visit` may change them; the sources
  // of u are then read at the changed indices.
  template <typename Visit>
  void Run(Visit visit) {
    for (auto it = order_.rbegin(); it != order_.rend(); ++it) {
      const UOp* u = *it;
      if (ways_.Get(u).empty()) continue;
      Ways ways = std::move(ways_[u]);
      visit(u, ways);
      for (uint32_t at : ways) Continue(u, at);
    }
  }

  using Ways = llvm::SmallVector<uint32_t, 2>;
  const Indices& At(uint32_t number) const { return indices_[number]; }
  uint32_t Add(Indices at) {
    indices_.push_back(std::move(at));
    return static_cast<uint32_t>(indices_.size() - 1);
  }

 private:
  void Push(const UOp* u, uint32_t at) {
    if (!wanted_.Contains(u)) return;
    if (shapes_.Of(u).empty()) at = 0;
    Ways& known = ways_[u];
    for (uint32_t k : known) {
      if (k == at || indices_[k] == indices_[at]) return;
    }
    known.push_back(at);
  }

  bool LeadsOn(const UOp* u) const {
    return llvm::any_of(u->srcs(), [&](const UOp* s) { return wanted_.Contains(s); });
  }

  void Continue(const UOp* u, uint32_t number) {
    if (!LeadsOn(u)) return;
    if (IsMovement(u->op)) {
      const UOp* from = u->src(0);
      Push(from, Add(LoopsThrough(u, shapes_.Of(from), shapes_.Of(u), indices_[number])));
    } else if (u->op == Op::kReduceAxis || u->op == Op::kReduceTuple) {
      Indices at = indices_[number];
      for (int64_t k : u->list(1)) at[static_cast<size_t>(k)] = {};
      for (size_t i = 0; i < axes_.size(); ++i) {
        const UOp* own = axes_[i].reduce;
        if (own && IsSameTuple(own, u)) at[axes_[i].dim] = CountedBy(i, axes_[i].size);
      }
      const uint32_t inside = Add(std::move(at));
      if (u->op == Op::kReduceAxis) return Push(u->src(0), inside);
      for (const UOp* x : TupleValues(u)) Push(x, inside);
    } else {
      for (const UOp* s : u->srcs()) Push(s, number);
    }
  }

  const std::vector<BaseAxis>& axes_;
  ShapeMap& shapes_;
  const UOpSpan order_;
  std::vector<Indices> indices_ = {{}};  // number 0: the index of a value without axes
  NodeMap<Ways> ways_;
  NodeSet wanted_;  // the nodes with one of `ops`, and all nodes that are computed from them
};

LoopSet StoredLoops(const std::vector<BaseAxis>& axes) {
  LoopSet stored = 0;
  for (size_t i = 0; i < axes.size(); ++i) stored |= axes[i].IsStored() ? LoopBit(i) : 0;
  return stored;
}

}  // namespace

std::vector<StagedAxis> StagedAxes(UOpSpan order, const std::vector<BaseAxis>& axes,
                                   ShapeMap& shapes) {
  std::vector<StagedAxis> out;  // users first
  LoopSet stored = StoredLoops(axes);
  // What is staged in the loop over a tuple's terms is computed anew in each iteration.
  for (size_t i = 0; i < axes.size(); ++i) {
    if (axes[i].reduce && axes[i].reduce->op == Op::kReduceTuple) stored |= LoopBit(i);
  }
  size_t loops = axes.size();
  Walk walk(order, axes, shapes, {Op::kStaged, Op::kReduceTuple});
  std::vector<std::pair<StagedAxis, size_t>> inner;  // axes of tuples, with the loop's number
  walk.Run([&](const UOp* u, Walk::Ways& ways) {
    if (u->op == Op::kReduceTuple) {
      const std::vector<size_t> own = InnerAxes(u, shapes);
      const UOp* first = FirstOfTuple(order, u);
      for (uint32_t& way : ways) {
        Indices at = walk.At(way);
        for (size_t k : own) {
          auto known = llvm::find_if(
              inner, [&](const auto& a) { return a.first.node == first && a.first.dim == k; });
          if (known == inner.end()) {
            inner.push_back({{first, k}, loops++});
            out.push_back({first, k});
            known = inner.end() - 1;
          }
          at[k] = CountedBy(known->second, shapes.Of(u)[k]);
        }
        way = walk.Add(std::move(at));
      }
      return;
    }
    if (u->op != Op::kStaged) return;
    Indices own = walk.At(ways[0]);
    const Shape& shape = shapes.Of(u);
    std::vector<const AxisLoops*> along;
    for (size_t k = shape.size(); k-- > 0;) {
      along.clear();
      for (uint32_t at : ways) along.push_back(&walk.At(at)[k]);
      if (shape[k].Is(1)) own[k] = {};
      if (shape[k].Is(1) || IsCountedAlike(shape[k], along, stored)) continue;
      own[k] = CountedBy(loops++, shape[k]);
      out.push_back({u, k});
    }
    ways = {walk.Add(std::move(own))};
  });
  std::reverse(out.begin(), out.end());
  return out;
}

Dependence FindDependence(UOpSpan order, const std::vector<BaseAxis>& axes, ShapeMap& shapes) {
  Dependence out;
  out.varies.assign(axes.size(), 0);
  out.reads.assign(axes.size(), 0);
  const LoopSet stored = StoredLoops(axes);
  const bool packs = llvm::any_of(order, [](const UOp* u) { return u->op == Op::kPacked; });
  if (!packs && llvm::all_of(axes, [](const BaseAxis& a) { return a.IsStored(); })) return out;
  Walk walk(order, axes, shapes, {Op::kReduceAxis, Op::kReduceTuple, Op::kStaged, Op::kPacked});
  walk.Run([&](const UOp* u, Walk::Ways& ways) {
    const auto loops_of_all = [&] {
      LoopSet loops = 0;
      for (uint32_t at : ways) loops |= UnionOf(walk.At(at));
      return loops;
    };
    if (u->op == Op::kReduceTuple) {
      for (uint32_t& way : ways) {
        Indices at = walk.At(way);
        for (size_t i = 0; i < axes.size(); ++i) {
          if (!axes[i].staged || !IsSameTuple(axes[i].staged, u)) continue;
          at[axes[i].dim] = CountedBy(i, axes[i].size);
        }
        way = walk.Add(std::move(at));
      }
      const LoopSet loops = loops_of_all();
      for (size_t i = 0; i < axes.size(); ++i) {
        if (axes[i].reduce && IsSameTuple(axes[i].reduce, u)) out.varies[i] |= loops;
        if (axes[i].staged && IsSameTuple(axes[i].staged, u)) out.varies[i] |= loops & stored;
      }
    } else if (u->op == Op::kReduceAxis) {
      const LoopSet loops = loops_of_all();
      for (size_t i = 0; i < axes.size(); ++i) {
        if (axes[i].reduce != u) continue;
        out.varies[i] |= loops;
        out.reads[i] = static_cast<uint32_t>(ways.size());
      }
    } else if (u->op == Op::kPacked) {
      out.packed.push_back({.node = u, .varies = loops_of_all()});
    } else if (u->op == Op::kStaged) {
      // A value without staged axes is computed wherever it is read.
      if (llvm::none_of(axes, [&](const BaseAxis& a) { return a.staged == u; })) return;
      Indices own = walk.At(ways[0]);
      for (size_t i = 0; i < axes.size(); ++i) {
        if (axes[i].staged != u) continue;
        own[axes[i].dim] = CountedBy(i, axes[i].size);
      }
      const Shape& shape = shapes.Of(u);
      for (size_t k = 0; k < shape.size(); ++k) {
        if (shape[k].Is(1)) own[k] = {};
      }
      const LoopSet loops = UnionOf(own) & stored;
      ways = {walk.Add(std::move(own))};
      for (size_t i = 0; i < axes.size(); ++i) out.varies[i] |= axes[i].staged == u ? loops : 0;
    }
  });
  std::reverse(out.packed.begin(), out.packed.end());
  return out;
}

}  // namespace tg::analysis
