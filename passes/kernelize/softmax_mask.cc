#include "passes/kernelize/softmax_mask.h"

#include <limits>
#include <utility>

#include "ir/value.h"
#include "ir/walk.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "passes/analysis/bounds.h"

namespace tg::kernelize {
namespace {

bool IsLowest(const UOp* x) {
  return IsConst(x) && x->dtype.is_float() &&
         DoubleFromBits(x->dtype.scalar(), x->word()) == -std::numeric_limits<double>::infinity();
}

// The same number as an index, if it is a sum of such that were cast, and none wraps; else null.
const UOp* AsIndex(Builder& b, const Module& module, const UOp* x) {
  analysis::Bounds bounds(b.context(), &module);
  const auto is_exact = [&](const UOp* u) {
    const analysis::Interval all = analysis::FullInterval(u->dtype.scalar()), of = bounds.Of(u);
    return u->dtype.is_int_or_index() && all.lo < of.lo && of.hi < all.hi;
  };
  NodeMap<const UOp*> map;
  for (const UOp* u : PostOrder(x)) {
    const UOp* source = u->num_srcs > 0 ? map.Get(u->src(0)) : nullptr;
    if (u->dtype.is_index()) {
      map[u] = u;
    } else if (!is_exact(u)) {
      continue;
    } else if (IsConst(u)) {
      map[u] = b.Index(u->word());
    } else if (u->op == Op::kCast) {
      map[u] = u->src(0)->dtype.is_index() ? u->src(0) : nullptr;
    } else if (u->op == Op::kAdd && source && map.Get(u->src(1))) {
      map[u] = b.Add(source, map.Get(u->src(1)));
    } else if (IsMovement(u->op) && source) {
      map[u] = MovedLike(b.context(), u, source);
    }
  }
  return map.Get(x);
}

// How an index of the scores' shape changes along their terms: 0 not at all, 1 it never decreases,
// -1 unknown.
int Trend(const UOp* x, size_t scores_axis, ShapeMap& shapes) {
  int trend = 0;
  std::vector<std::pair<const UOp*, size_t>> terms = {{x, scores_axis}};
  while (!terms.empty()) {
    const auto [u, axis] = terms.back();
    terms.pop_back();
    const Shape& shape = shapes.Of(u);
    if (shape.empty() || shape[axis].Is(1)) {
      const auto varies = [](const UOp* v) {
        return v->num_srcs == 0 && !IsConst(v) && v->op != Op::kVar && v->op != Op::kIota;
      };
      if (llvm::any_of(PostOrder(u), varies)) return -1;
    } else if (u->op == Op::kAdd) {
      for (const UOp* s : u->srcs()) terms.emplace_back(s, axis);
    } else if (u->op == Op::kIota) {
      trend = 1;
    } else if (u->op == Op::kExpand || u->op == Op::kShrink) {
      terms.emplace_back(u->src(0), axis);
    } else if (IsMovement(u->op)) {
      const Shape& from = shapes.Of(u->src(0));
      std::optional<size_t> source;
      for (size_t k = 0; k < from.size() && !source; ++k) {
        if (from[k] == shape[axis] && AxisThrough(u, k, shapes) == axis) source = k;
      }
      if (!source) return -1;
      terms.emplace_back(u->src(0), *source);
    } else {
      return -1;
    }
  }
  return trend;
}

// A part of a mask's condition, which masks alone.
struct Part {
  const UOp* condition;
  bool masks;                        // where it holds, or where it does not
  std::vector<const UOp*> movement;  // from the scores down to it
};

// The comparison that a part is, if it masks from some term on.
std::optional<Comparison> ComparisonOf(const Part& part, Builder& b, const Module& module,
                                       ShapeMap& shapes, size_t scores_axis) {
  const UOp* u = part.condition;
  if (u->op != Op::kCmpLt) return std::nullopt;
  const UOp *less = AsIndex(b, module, u->src(0)), *greater = AsIndex(b, module, u->src(1));
  if (!less || !greater) return std::nullopt;
  // Behind the movement ops that give the comparison the shape of the scores.
  const auto moved = [&](const UOp* x) {
    if (shapes.Of(x).empty()) return x;
    for (const UOp* m : llvm::reverse(part.movement)) x = MovedLike(b.context(), m, x);
    return x;
  };
  less = moved(less), greater = moved(greater);
  const UOp *row = part.masks ? less : greater, *term = part.masks ? greater : less;
  if (Trend(row, scores_axis, shapes) != 0 || Trend(term, scores_axis, shapes) != 1) {
    return std::nullopt;
  }
  return Comparison{b.Lt(less, greater), part.masks};
}

}  // namespace

const UOp* MovedLike(Context& ctx, const UOp* m, const UOp* x) {
  llvm::SmallVector<const UOp*, 8> srcs(m->srcs().begin(), m->srcs().end());
  srcs[0] = x;
  return ctx.Make(m->op, x->dtype, {srcs.data(), srcs.size()}, m->attr);
}

std::optional<Mask> FindMask(const UOp* scores, bool wide) {
  const auto selected = [](const UOp* u) -> std::optional<Mask> {
    if (u->op != Op::kWhere || (!IsLowest(u->src(1)) && !IsLowest(u->src(2)))) return std::nullopt;
    return Mask{u->src(0), IsLowest(u->src(1)), {}};
  };
  if (scores->op != Op::kAdd) return selected(scores);
  for (const UOp* term : scores->srcs()) {
    std::vector<const UOp*> movement;
    const UOp* u = Unwrapped(term, wide);
    for (; IsMovement(u->op); u = Unwrapped(u->src(0), wide)) movement.push_back(u);
    std::optional<Mask> mask = selected(u);
    if (!mask) continue;
    const UOp* other = u->src(mask->where_true ? 2 : 1);
    if (!IsConst(other) || DoubleFromBits(other->dtype.scalar(), other->word()) != 0) continue;
    mask->movement = std::move(movement);
    mask->term = term;
    return mask;
  }
  return std::nullopt;
}

std::optional<Comparison> MaskOfLastTerms(Builder& b, const Module& module, ShapeMap& shapes,
                                          const SoftmaxProduct& p) {
  const std::optional<Mask> mask = FindMask(p.scores, p.wide);
  if (!mask) return std::nullopt;
  std::vector<Part> parts = {{mask->condition, mask->where_true, mask->movement}};
  while (!parts.empty()) {
    Part part = std::move(parts.back());
    parts.pop_back();
    for (;; part.condition = part.condition->src(0)) {
      if (IsMovement(part.condition->op)) {
        part.movement.push_back(part.condition);
      } else if (Negates(part.condition)) {
        part.masks = !part.masks;
      } else {
        break;
      }
    }
    if (part.condition->op == (part.masks ? Op::kOr : Op::kAnd)) {
      for (const UOp* s : part.condition->srcs()) parts.push_back({s, part.masks, part.movement});
    } else if (const auto found = ComparisonOf(part, b, module, shapes, p.scores_axis)) {
      return found;
    }
  }
  return std::nullopt;
}

}  // namespace tg::kernelize
