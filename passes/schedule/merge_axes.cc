#include "passes/schedule/merge_axes.h"

#include <map>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "ir/builder.h"
#include "ir/op.h"
#include "passes/analysis/indexing.h"

namespace tg::schedule {
namespace {

// Where the product of the two sizes goes. Axes that are no neighbours keep the inner one, which
// may be contiguous in memory.
enum class Keeps { kOuter, kInner };

Shape Merged(Context& context, Shape shape, AxisPair pair, Keeps keeps) {
  const Dim size = MulDims(context, shape[pair.outer], shape[pair.inner]);
  shape[pair.outer] = keeps == Keeps::kOuter ? size : Dim(1);
  shape[pair.inner] = keeps == Keeps::kInner ? size : Dim(1);
  return shape;
}

// The axis of a reshape's source that alone makes up axis `dim` of its result.
std::optional<size_t> AxisBelowReshape(const Shape& from, const Shape& to, size_t dim) {
  for (const analysis::ReshapeGroup& g : analysis::GroupReshape(from, to)) {
    if (dim < g.to_begin || dim >= g.to_end) continue;
    std::optional<size_t> axis;
    for (size_t k = g.from_begin; k < g.from_end; ++k) {
      if (from[k] == to[dim]) axis = k;
    }
    for (size_t k = g.from_begin; k < g.from_end; ++k) {
      if (k != axis && !from[k].Is(1)) return std::nullopt;
    }
    return axis;
  }
  return std::nullopt;
}

// An argument, or as many of its elements as a symbolic shape has.
bool IsArgument(const UOp* u) {
  return u->op == Op::kDefineGlobal || (u->op == Op::kShrink && u->src(0)->op == Op::kDefineGlobal);
}

// Whether the outer axis precedes the inner one, and all axes between the two have size 1, so that
// one reshape merges them.
bool AreNeighbours(const Shape& shape, AxisPair pair) {
  if (pair.outer > pair.inner) return false;
  for (size_t k = pair.outer + 1; k < pair.inner; ++k) {
    if (!shape[k].Is(1)) return false;
  }
  return true;
}

// Moves reshapes that merge two axes from values to the arguments that they are computed from.
// Where an op below needs both axes, the reshape stays above that op (`anywhere`), or there is
// none.
class Merger {
 public:
  Merger(Body& body, ShapeMap& shapes, bool anywhere = false, Keeps keeps = Keeps::kOuter)
      : body_(body), b_(*body.context), shapes_(shapes), anywhere_(anywhere), keeps_(keeps) {}

  // The value or pointer `u` with two axes merged. Null if an op below needs both, or if the axes
  // are no neighbours.
  const UOp* Of(const UOp* u, AxisPair pair) {
    const Shape& shape = shapes_.Of(u);
    if (shape.empty() || (shape[pair.outer].Is(1) && shape[pair.inner].Is(1))) return u;
    if (!anywhere_ && !AreNeighbours(shape, pair)) return nullptr;
    const auto [known, is_new] =
        made_.try_emplace(std::tuple(u->id, pair.outer, pair.inner), nullptr);
    if (!is_new) return known->second;
    const UOp* made = Make(u, shape, pair);
    if (!made && anywhere_) {
      made = b_.Reshape(AsNeighbours(u, shape, pair), MergedShape(shape, pair));
    }
    if (made) body_.CarryOver(u, made);
    return known->second = made;
  }

 private:
  Shape MergedShape(const Shape& shape, AxisPair pair) {
    return Merged(*body_.context, shape, pair, keeps_);
  }

  // With the outer axis right before the inner one, where the product is to be.
  const UOp* AsNeighbours(const UOp* u, const Shape& shape, AxisPair pair) {
    if (AreNeighbours(shape, pair)) return u;
    const size_t moved = keeps_ == Keeps::kOuter ? pair.inner : pair.outer;
    std::vector<int64_t> order;
    for (size_t k = 0; k < shape.size(); ++k) {
      if (k == moved) continue;
      const bool at = k == pair.outer || k == pair.inner;
      for (const size_t axis : {pair.outer, pair.inner}) {
        if (at) order.push_back(static_cast<int64_t>(axis));
      }
      if (!at) order.push_back(static_cast<int64_t>(k));
    }
    return b_.Permute(u, order);
  }

  const UOp* Make(const UOp* u, const Shape& shape, AxisPair pair) {
    switch (u->op) {
      case Op::kReshape:
        return OfReshape(u, shape, pair);
      case Op::kPermute: {
        const auto source = [&](size_t dim) { return static_cast<size_t>(u->list(0)[dim]); };
        const AxisPair below = {source(pair.outer), source(pair.inner)};
        const UOp* x = Of(u->src(0), below);
        return x ? b_.Permute(x, u->list(0)) : nullptr;
      }
      case Op::kExpand: {
        const Shape& from = shapes_.Of(u->src(0));
        const bool repeats = from[pair.outer] != shape[pair.outer];
        if (repeats != (from[pair.inner] != shape[pair.inner])) return nullptr;
        const UOp* x = repeats ? u->src(0) : Of(u->src(0), pair);
        return x ? b_.Expand(x, MergedShape(shape, pair)) : nullptr;
      }
      case Op::kShrink:
      case Op::kPad: {
        const Shape& from = shapes_.Of(u->src(0));
        if (from[pair.outer] != shape[pair.outer] || from[pair.inner] != shape[pair.inner]) {
          return nullptr;
        }
        const UOp* x = Of(u->src(0), pair);
        if (!x) return nullptr;
        std::vector<std::pair<Dim, Dim>> pairs = PairsOf(u);
        if (u->op == Op::kPad) return b_.Pad(x, pairs);
        const Shape merged = MergedShape(shape, pair);
        for (const size_t k : {pair.outer, pair.inner}) pairs[k].second = merged[k];
        return b_.Shrink(x, pairs);
      }
      case Op::kReduceAxis:
        for (int64_t axis : u->list(1)) {
          const auto dim = static_cast<size_t>(axis);
          if (dim == pair.outer || dim == pair.inner) return nullptr;
        }
        return OfSources(u, pair);
      case Op::kLoad:
        return OfSources(u, pair);
      default:
        return IsElementwise(u->op) && u->num_srcs > 0 ? OfSources(u, pair) : nullptr;
    }
  }

  const UOp* OfReshape(const UOp* u, const Shape& shape, AxisPair pair) {
    const UOp* source = u->src(0);
    const Shape& from = shapes_.Of(source);
    if (IsArgument(source)) {
      return AreNeighbours(shape, pair) ? b_.Reshape(source, MergedShape(shape, pair)) : nullptr;
    }
    const std::optional<size_t> outer = AxisBelowReshape(from, shape, pair.outer);
    const std::optional<size_t> inner = AxisBelowReshape(from, shape, pair.inner);
    if (!outer || !inner) return nullptr;
    const UOp* x = Of(source, {*outer, *inner});
    return x ? b_.Reshape(x, MergedShape(shape, pair)) : nullptr;
  }

  // An op whose result has the shape of its sources, but for the axes of a reduce.
  const UOp* OfSources(const UOp* u, AxisPair pair) {
    std::vector<const UOp*> srcs;
    for (const UOp* s : u->srcs()) {
      srcs.push_back(Of(s, pair));
      if (!srcs.back()) return nullptr;
    }
    return body_.context->Rebuild(u, *body_.context, UOpSpan(srcs.data(), srcs.size()));
  }

  Body& body_;
  Builder b_;
  ShapeMap& shapes_;
  bool anywhere_;
  Keeps keeps_;
  std::map<std::tuple<uint32_t, size_t, size_t>, const UOp*> made_;
};

// Merges a pair of axes in all stores, or in none.
bool MergeInStores(Body& body, ShapeMap& shapes, AxisPair pair, bool anywhere = false,
                   Keeps keeps = Keeps::kOuter) {
  Merger to_memory(body, shapes, keeps == Keeps::kInner, keeps);
  Merger merger(body, shapes, anywhere, keeps);
  std::vector<const UOp*> stores;
  for (const UOp* store : body.root->srcs()) {
    const UOp *to = to_memory.Of(store->src(0), pair), *value = merger.Of(store->src(1), pair);
    if (!to || !value || shapes.Of(value).empty()) return false;
    const UOp* const srcs[] = {to, value};
    stores.push_back(body.context->Rebuild(store, *body.context, srcs));
    body.CarryOver(store, stores.back());
  }
  body.root =
      body.context->Rebuild(body.root, *body.context, UOpSpan(stores.data(), stores.size()));
  return true;
}

}  // namespace

bool MergeResultAxes(Body& body, ShapeMap& shapes, bool symbolic) {
  const Shape shape = shapes.Of(body.root->src(0)->src(0));
  bool changed = false;
  // From the innermost axis, since the outer one of a pair keeps the product.
  std::optional<size_t> inner;
  for (size_t dim = shape.size(); dim-- > 0;) {
    if (shape[dim].Is(1)) continue;
    const bool may_merge = symbolic || !shape[dim].is_symbolic();
    if (may_merge && inner) changed |= MergeInStores(body, shapes, {dim, *inner});
    inner = may_merge ? std::optional(dim) : std::nullopt;
  }
  return changed;
}

std::optional<size_t> MergeResultPair(Body& body, ShapeMap& shapes, AxisPair pair) {
  const bool neighbours = AreNeighbours(shapes.Of(body.root->src(0)->src(0)), pair);
  const Keeps keeps = neighbours ? Keeps::kOuter : Keeps::kInner;
  if (!MergeInStores(body, shapes, pair, /*anywhere=*/true, keeps)) return std::nullopt;
  return neighbours ? pair.outer : pair.inner;
}

bool MergeTerms(Body& body, ShapeMap& shapes, const UOp* reduce, AxisPair pair) {
  if (!AreNeighbours(shapes.Of(reduce->src(0)), pair)) return false;
  const UOp* terms = Merger(body, shapes, /*anywhere=*/true).Of(reduce->src(0), pair);
  NodeMap<const UOp*> map;
  std::vector<const UOp*> srcs;
  for (const UOp* u : body.Order()) {
    srcs.clear();
    for (const UOp* s : u->srcs()) srcs.push_back(map.Get(s));
    if (u == reduce) srcs[0] = terms;
    map[u] = body.context->Rebuild(u, *body.context, UOpSpan(srcs.data(), srcs.size()));
    body.CarryOver(u, map[u]);
  }
  body.root = map.Get(body.root);
  return true;
}

}  // namespace tg::schedule
