#include "passes/analysis/accesses.h"

#include <algorithm>
#include <deque>
#include <utility>

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "passes/analysis/bounds.h"
#include "passes/analysis/view_index.h"

namespace tg {
namespace {

// What `u` is made of, itself included.
NodeSet PartsOf(const UOp* u) {
  NodeSet parts;
  std::vector<const UOp*> order;
  AppendPostOrder(UOpSpan(&u, 1), parts, order);
  return parts;
}

// The factor of each leaf in a sum of products with constants; nullopt: it is in something else.
std::vector<std::optional<int64_t>> StridesOf(const UOp* index,
                                              const std::vector<const UOp*>& leaves) {
  std::vector<std::optional<int64_t>> strides(leaves.size(), 0);
  llvm::SmallVector<std::pair<const UOp*, int64_t>, 8> terms = {{index, 1}};
  while (!terms.empty()) {
    const auto [u, factor] = terms.pop_back_val();
    const auto leaf = std::find(leaves.begin(), leaves.end(), u);
    if (leaf != leaves.end()) {
      std::optional<int64_t>& stride = strides[static_cast<size_t>(leaf - leaves.begin())];
      if (stride) *stride += factor;
    } else if (u->op == Op::kAdd) {
      terms.emplace_back(u->src(0), factor);
      terms.emplace_back(u->src(1), factor);
    } else if (u->op == Op::kSub) {
      terms.emplace_back(u->src(0), factor);
      terms.emplace_back(u->src(1), -factor);
    } else if (u->op == Op::kMul && IsConst(u->src(1))) {
      terms.emplace_back(u->src(0), factor * u->src(1)->word());
    } else if (u->op == Op::kMul && IsConst(u->src(0))) {
      terms.emplace_back(u->src(1), factor * u->src(0)->word());
    } else if (u->num_srcs > 0) {
      const NodeSet parts = PartsOf(u);
      for (size_t i = 0; i < leaves.size(); ++i) {
        if (parts.Contains(leaves[i])) strides[i] = std::nullopt;
      }
    }
  }
  return strides;
}

// a / d, rounded up; d > 0.
int64_t CeilDiv(int64_t a, int64_t d) { return a / d + (a % d > 0); }

// Adds where a part of a condition, that is no conjunction, changes along each leaf it depends on.
void AddEdges(const UOp* part, const std::vector<const UOp*>& leaves, Bounds& bounds,
              std::vector<Edges>& edges) {
  // A negation changes where what is negated does.
  while (part->op == Op::kCmpNe && part->src(0)->dtype.is_bool() && IsConst(part->src(1))) {
    part = part->src(0);
  }
  const bool compares = part->op == Op::kCmpLt;
  const NodeSet parts = PartsOf(part);
  std::vector<std::optional<int64_t>> left, right;
  if (compares) {
    left = StridesOf(part->src(0), leaves);
    right = StridesOf(part->src(1), leaves);
  }
  for (size_t i = 0; i < leaves.size(); ++i) {
    if (!parts.Contains(leaves[i])) continue;
    if (!compares || !left[i] || !right[i]) {
      edges[i].anywhere = true;
      continue;
    }
    const int64_t step = *left[i] - *right[i], end = bounds.Max(leaves[i]);
    if (step == 0) continue;
    // left - right = step * i + rest, and the sign of that changes where step * i + rest >= 0
    // begins or ends.
    const Interval a = bounds.Of(part->src(0)), c = bounds.Of(part->src(1));
    Interval rest;
    int64_t most = 0;
    if (!a.HasLo() || !a.HasHi() || !c.HasLo() || !c.HasHi() ||
        __builtin_sub_overflow(a.lo, c.hi, &rest.lo) ||
        __builtin_sub_overflow(a.hi, c.lo, &rest.hi) || __builtin_mul_overflow(step, end, &most) ||
        __builtin_sub_overflow(rest.lo, std::min<int64_t>(most, 0), &rest.lo) ||
        __builtin_sub_overflow(rest.hi, std::max<int64_t>(most, 0), &rest.hi)) {
      edges[i].anywhere = true;
      continue;
    }
    // step > 0: from i = ceil(-rest / step) on it is not negative; step < 0: from
    // i = floor(rest / -step) + 1 on it is.
    Edge e = step > 0 ? Edge{CeilDiv(-rest.hi, step), CeilDiv(-rest.lo, step)}
                      : Edge{CeilDiv(rest.lo + 1, -step), CeilDiv(rest.hi + 1, -step)};
    e = {std::max<int64_t>(e.first, 1), std::min(e.last, end)};
    if (e.first <= e.last) edges[i].at.push_back(e);
  }
}

class Finder {
 public:
  Finder(Body& body, const std::vector<BaseAxis>& axes, ShapeMap& shapes, SimplifyFn simplify)
      : body_(body),
        axes_(axes),
        shapes_(shapes),
        simplify_(simplify),
        b_(*body.context),
        bounds_(*body.context) {
    for (const BaseAxis& a : axes) leaves_.push_back(b_.Range(b_.Index(a.size)));
  }

  std::vector<Access> Run() {
    for (const UOp* store : body_.root->srcs()) {
      const Shape& shape = shapes_.Of(store->src(0));
      Position at;
      at.index.assign(shape.size(), b_.Index(0));
      for (size_t i = 0; i < axes_.size(); ++i) {
        if (axes_[i].IsStored()) at.index[axes_[i].dim] = leaves_[i];
      }
      Record(store, at);
      Push(store->src(1), Keep(std::move(at)));
    }
    while (!work_.empty()) {
      const auto [u, at] = work_.back();
      work_.pop_back();
      Visit(u, *at);
    }
    return std::move(out_);
  }

 private:
  const Position* Keep(Position at) { return &positions_.emplace_back(std::move(at)); }

  void Push(const UOp* u, const Position* at) {
    if (shapes_.Of(u).empty() && !at->index.empty()) at = Keep({{}, at->valid});
    auto& seen = seen_[u];
    const auto is_it = [&](const Position* other) { return other == at || *other == *at; };
    if (llvm::any_of(seen, is_it)) return;
    seen.push_back(at);
    work_.emplace_back(u, at);
  }

  // Conditions are only asked for what they depend on: all of them are kept side by side, as they
  // are.
  Position Map(const UOp* u, Position at) {
    const UOp* src = u->src(0);
    const UOp* outer = std::exchange(at.valid, nullptr);
    if (u->op == Op::kView) {
      const ViewIndex v = IndexThroughView(b_, u, at.index);
      return {Unflatten(b_, shapes_.Of(src), simplify_(v.offset), simplify_),
              v.valid ? Both(b_, outer, simplify_(v.valid)) : outer};
    }
    Position out = MapThrough(b_, u, shapes_.Of(src), shapes_.Of(u), at, nullptr, simplify_);
    out.valid = Both(b_, outer, out.valid);
    return out;
  }

  void Visit(const UOp* u, const Position& at) {
    if (u->op == Op::kLoad) {
      Record(u, at);
    } else if (IsMovement(u->op)) {
      Push(u->src(0), Keep(Map(u, at)));
    } else if (u->op == Op::kReduceAxis) {
      Position from = at;
      for (int64_t k : u->list(1)) from.index[static_cast<size_t>(k)] = b_.Index(0);
      for (size_t i = 0; i < axes_.size(); ++i) {
        if (axes_[i].reduce == u) from.index[axes_[i].dim] = leaves_[i];
      }
      Push(u->src(0), Keep(std::move(from)));
    } else if (u->op == Op::kStaged) {
      Position from = {at.index, nullptr};
      const Shape& shape = shapes_.Of(u);
      for (size_t k = 0; k < shape.size(); ++k) {
        if (shape[k].Is(1)) from.index[k] = b_.Index(0);
      }
      for (size_t i = 0; i < axes_.size(); ++i) {
        if (axes_[i].staged == u) from.index[axes_[i].dim] = leaves_[i];
      }
      Push(u->src(0), Keep(std::move(from)));
    } else {
      for (const UOp* s : u->srcs()) Push(s, &at);
    }
  }

  void Record(const UOp* u, Position at) {
    const UOp* ptr = u->src(0);
    while (IsMovement(ptr->op)) {
      at = Map(ptr, std::move(at));
      ptr = ptr->src(0);
    }
    if (ptr->op != Op::kDefineGlobal) return;
    Access a;
    a.node = u;
    a.slot = ptr->word();
    a.index = Flatten(b_, shapes_.Of(ptr), at.index, simplify_);
    a.valid = at.valid;
    a.stride = StridesOf(a.index, leaves_);
    const NodeSet condition = a.valid ? PartsOf(a.valid) : NodeSet();
    for (const UOp* leaf : leaves_) a.masked.push_back(condition.Contains(leaf));
    a.edges = EdgesOf(a.valid);
    out_.push_back(std::move(a));
  }

  std::vector<Edges> EdgesOf(const UOp* valid) {
    std::vector<Edges> edges(leaves_.size());
    std::vector<const UOp*> parts;
    if (valid) parts.push_back(valid);
    while (!parts.empty()) {
      const UOp* part = parts.back();
      parts.pop_back();
      if (part->op == Op::kAnd) {
        parts.insert(parts.end(), part->srcs().begin(), part->srcs().end());
      } else {
        AddEdges(part, leaves_, bounds_, edges);
      }
    }
    return edges;
  }

  Body& body_;
  const std::vector<BaseAxis>& axes_;
  ShapeMap& shapes_;
  SimplifyFn simplify_;
  Builder b_;
  Bounds bounds_;
  std::vector<const UOp*> leaves_;
  std::deque<Position> positions_;
  std::vector<std::pair<const UOp*, const Position*>> work_;
  NodeMap<llvm::SmallVector<const Position*, 1>> seen_;
  std::vector<Access> out_;
};

}  // namespace

std::vector<Access> FindAccesses(Body& body, const std::vector<BaseAxis>& axes, ShapeMap& shapes,
                                 SimplifyFn simplify) {
  return Finder(body, axes, shapes, simplify).Run();
}

}  // namespace tg
