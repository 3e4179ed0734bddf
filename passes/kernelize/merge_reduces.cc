#include "passes/kernelize/merge_reduces.h"

#include <algorithm>
#include <iterator>
#include <vector>

#include "ir/builder.h"
#include "ir/shape.h"
#include "ir/walk.h"
#include "llvm/ADT/SmallVector.h"
#include "passes/analysis/indexing.h"

namespace tg::kernelize {
namespace {

// Reduces `x` over `axes`. If these are all the axes that a reshape made of some axes of its
// source, reduces the source over those instead.
const UOp* ReduceWhole(Builder& b, ShapeMap& shapes, const UOp* x, Op op,
                       const std::vector<int64_t>& axes) {
  const UOp* parts = b.ReduceAxis(x, op, axes);
  if (x->op != Op::kReshape) return parts;
  const Shape &from = shapes.Of(x->src(0)), &to = shapes.Of(x);
  std::vector<int64_t> whole;
  for (const analysis::ReshapeGroup& g : analysis::GroupReshape(from, to)) {
    size_t reduced = 0;
    for (size_t k = g.to_begin; k < g.to_end; ++k) {
      reduced += to[k].Is(1) || std::find(axes.begin(), axes.end(), k) != axes.end();
    }
    const bool none = std::none_of(axes.begin(), axes.end(), [&](int64_t a) {
      return static_cast<size_t>(a) >= g.to_begin && static_cast<size_t>(a) < g.to_end;
    });
    if (none) continue;
    if (reduced != g.to_end - g.to_begin) return parts;
    for (size_t k = g.from_begin; k < g.from_end; ++k) whole.push_back(static_cast<int64_t>(k));
  }
  if (whole.size() >= axes.size()) return parts;
  return b.Reshape(b.ReduceAxis(x->src(0), op, whole), shapes.Of(parts));
}

}  // namespace

void MergeReduces(const Module& module, Body& body, UOpSpan order) {
  const auto holds_reduce = [](const UOp* u) {
    return u->op == Op::kReduceAxis && u->src(0)->op == Op::kReduceAxis;
  };
  if (std::none_of(order.begin(), order.end(), holds_reduce)) return;
  NodeMap<int> uses;
  for (const UOp* u : order) {
    for (const UOp* s : u->srcs()) ++uses[s];
  }
  const auto inner_of = [&](const UOp* u) -> const UOp* {
    if (!holds_reduce(u)) return nullptr;
    const bool exact = u->dtype.is_float() && module.flags.has(ModuleFlag::kNoReassociate);
    const UOp* inner = u->src(0);
    return !exact && inner->word() == u->word() && uses.Get(inner) == 1 ? inner : nullptr;
  };
  if (std::none_of(order.begin(), order.end(), inner_of)) return;
  Builder b(*body.context);
  ShapeMap shapes(module, *body.context);
  NodeMap<const UOp*> map;
  llvm::SmallVector<const UOp*, 8> srcs;
  for (const UOp* u : order) {
    srcs.clear();
    for (const UOp* s : u->srcs()) srcs.push_back(map.Get(s));
    const UOp*& now = map[u];
    if (const UOp* inner = inner_of(u)) {
      std::vector<int64_t> axes;
      std::set_union(u->list(1).begin(), u->list(1).end(), inner->list(1).begin(),
                     inner->list(1).end(), std::back_inserter(axes));
      now = ReduceWhole(b, shapes, map.Get(inner->src(0)), static_cast<Op>(u->word()), axes);
    } else {
      now = b.context().Rebuild(u, b.context(), {srcs.data(), srcs.size()});
    }
    body.CarryOver(u, now);
  }
  body.root = map.Get(body.root);
}

}  // namespace tg::kernelize
