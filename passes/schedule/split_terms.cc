#include "passes/schedule/split_terms.h"

#include <vector>

#include "ir/builder.h"
#include "passes/analysis/indexing.h"

namespace tg::schedule {
namespace {

// The sizes of the axes of a reshape's source that make up axis `dim` of its result. If a single
// axis does, sets `dim` to that axis of the source. Returns an empty list if parts of axes are
// involved, or symbolic ones.
std::vector<int64_t> PartsOfReshape(const Shape& from, const Shape& to, size_t& dim) {
  std::vector<int64_t> parts;
  for (const analysis::ReshapeGroup& g : analysis::GroupReshape(from, to)) {
    if (dim < g.to_begin || dim >= g.to_end) continue;
    for (size_t k = g.to_begin; k < g.to_end; ++k) {
      if (k != dim && !to[k].Is(1)) return {};
    }
    for (size_t k = g.from_begin; k < g.from_end; ++k) {
      if (from[k].is_symbolic()) return {};
      if (from[k].Is(1)) continue;
      parts.push_back(from[k].value());
      dim = k;
    }
    return parts;
  }
  return parts;
}

// Looks for a reshape below `u`, through permutes, expands and elementwise ops, that merges several
// axes into axis `dim` of `u`. Returns the sizes of those axes; empty if there is no such reshape.
std::vector<int64_t> PartsBelow(const UOp* u, size_t dim, ShapeMap& shapes) {
  while (true) {
    switch (u->op) {
      case Op::kPermute:
        dim = static_cast<size_t>(u->list(0)[dim]);
        break;
      case Op::kExpand:
        if (shapes.Of(u->src(0))[dim].Is(1)) return {};
        break;
      case Op::kReshape: {
        std::vector<int64_t> parts = PartsOfReshape(shapes.Of(u->src(0)), shapes.Of(u), dim);
        if (parts.size() != 1) return parts;
        break;
      }
      default:
        if (!IsElementwise(u->op) || u->op == Op::kStaged || u->op == Op::kPacked) return {};
        for (const UOp* s : u->srcs()) {
          if (std::vector<int64_t> parts = PartsBelow(s, dim, shapes); !parts.empty()) return parts;
        }
        return {};
    }
    u = u->src(0);
  }
}

const UOp* WithSplitTerms(const UOp* reduce, const UOp* terms, Builder& b, ShapeMap& shapes) {
  const Shape& shape = shapes.Of(terms);
  Shape split;
  std::vector<int64_t> axes;
  bool changed = false;
  for (size_t dim = 0; dim < shape.size(); ++dim) {
    std::vector<int64_t> parts;
    bool reduced = false;
    for (int64_t axis : reduce->list(1)) reduced |= static_cast<size_t>(axis) == dim;
    if (reduced) parts = PartsBelow(terms, dim, shapes);
    changed |= !parts.empty();
    const size_t first = split.size();
    if (parts.empty()) {
      split.push_back(shape[dim]);
    } else {
      for (int64_t part : parts) split.push_back(part);
    }
    for (size_t n = first; reduced && n < split.size(); ++n) {
      axes.push_back(static_cast<int64_t>(n));
    }
  }
  if (!changed) return nullptr;
  const UOp* sum = b.ReduceAxis(b.Reshape(terms, split), static_cast<Op>(reduce->word()), axes);
  return b.Reshape(sum, shapes.Of(reduce));
}

}  // namespace

bool SplitTerms(Body& body, ShapeMap& shapes) {
  Builder b(*body.context);
  NodeMap<const UOp*> map;
  std::vector<const UOp*> srcs;
  bool changed = false;
  for (const UOp* u : body.Order()) {
    srcs.clear();
    for (const UOp* s : u->srcs()) srcs.push_back(map.Get(s));
    const UOp* made = nullptr;
    if (u->op == Op::kReduceAxis) made = WithSplitTerms(u, srcs[0], b, shapes);
    changed |= made != nullptr;
    if (!made) {
      made = body.context->Rebuild(u, *body.context, UOpSpan(srcs.data(), srcs.size()));
    }
    body.CarryOver(u, made);
    map[u] = made;
  }
  if (changed) body.root = map.Get(body.root);
  return changed;
}

}  // namespace tg::schedule
