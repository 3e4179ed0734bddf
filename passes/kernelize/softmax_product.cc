#include "passes/kernelize/softmax_product.h"

#include <utility>

#include "ir/matrix/matrix_instruction.h"
#include "ir/value.h"

namespace tg::kernelize {
namespace {

bool IsReduceAlong(const UOp* u, Op op, const UOp* of, size_t axis, bool wide) {
  return u->op == Op::kReduceAxis && static_cast<Op>(u->word()) == op &&
         Unwrapped(u->src(0), wide) == of && u->list(1).size() == 1 &&
         u->list(1)[0] == static_cast<int64_t>(axis);
}

// The reduce behind `u`, which repeats its results along the reduced axis.
const UOp* RepeatedReduce(const UOp* u, bool wide) {
  u = Unwrapped(u, wide);
  while (u->op == Op::kExpand || u->op == Op::kReshape || u->op == Op::kDetach)
    u = Unwrapped(u->src(0), wide);
  return u->op == Op::kReduceAxis ? u : nullptr;
}

// Whether `repeated` has the shape of `like` and only repeats its reduce along `axis`.
bool RepeatsAlong(const UOp* repeated, const UOp* like, size_t axis, ShapeMap& shapes, bool wide) {
  repeated = Unwrapped(repeated, wide);
  if (repeated->op != Op::kExpand || shapes.Of(repeated) != shapes.Of(like)) return false;
  const UOp* row = Unwrapped(repeated->src(0), wide);
  Shape want = shapes.Of(like);
  want[axis] = 1;
  return shapes.Of(row) == want && row->op == Op::kReduceAxis;
}

bool IsPositive(const UOp* u) {
  return IsConst(u) && DoubleFromBits(u->dtype.scalar(), u->word()) > 0;
}

// Sets exponential, maximum, scores, scale and scores_axis from exp2 node `e`.
bool MatchExponential(const UOp* e, SoftmaxProduct& p, ShapeMap& shapes) {
  if (e->op != Op::kExp2) return false;
  const UOp* x = Unwrapped(e->src(0), p.wide);
  if (x->op == Op::kMul && (IsPositive(x->src(0)) || IsPositive(x->src(1)))) {
    const size_t at = IsPositive(x->src(1)) ? 1 : 0;
    p.scale = x->src(at);
    x = Unwrapped(x->src(1 - at), p.wide);
  }
  if (x->op != Op::kSub) return false;
  p.exponential = e;
  p.scores = Unwrapped(x->src(0), p.wide);
  p.maximum = RepeatedReduce(x->src(1), p.wide);
  if (!p.maximum || p.maximum->list(1).size() != 1) return false;
  p.scores_axis = static_cast<size_t>(p.maximum->list(1)[0]);
  return IsReduceAlong(p.maximum, Op::kMax, p.scores, p.scores_axis, p.wide) &&
         RepeatsAlong(x->src(1), p.scores, p.scores_axis, shapes, p.wide);
}

// Whether `u` is 1 / total, repeated along the terms.
bool IsInverseTotal(const UOp* u, SoftmaxProduct& p, ShapeMap& shapes) {
  u = Unwrapped(u, p.wide);
  Shape row = shapes.Of(p.exponential);
  row[p.scores_axis] = 1;
  if (u->op == Op::kExpand && shapes.Of(u->src(0)) == row) {
    const UOp* inverse = Unwrapped(u->src(0), p.wide);
    if (inverse->op != Op::kRecip) return false;
    p.total = Unwrapped(inverse->src(0), p.wide);
  } else if (u->op == Op::kRecip &&
             RepeatsAlong(u->src(0), p.exponential, p.scores_axis, shapes, p.wide)) {
    p.total = RepeatedReduce(u->src(0), p.wide);
  } else {
    return false;
  }
  return IsReduceAlong(p.total, Op::kAdd, p.exponential, p.scores_axis, p.wide);
}

bool MatchSoftmax(const UOp* u, SoftmaxProduct& p, ShapeMap& shapes) {
  p.softmax = u;
  if (u->op == Op::kDiv) {
    if (!MatchExponential(Unwrapped(u->src(0), p.wide), p, shapes)) return false;
    if (!RepeatsAlong(u->src(1), p.exponential, p.scores_axis, shapes, p.wide)) return false;
    p.total = RepeatedReduce(u->src(1), p.wide);
    return IsReduceAlong(p.total, Op::kAdd, p.exponential, p.scores_axis, p.wide);
  }
  if (u->op != Op::kMul) return false;
  for (size_t i = 0; i < 2; ++i) {
    p.scale = nullptr;
    if (MatchExponential(Unwrapped(u->src(i), p.wide), p, shapes) &&
        IsInverseTotal(u->src(1 - i), p, shapes)) {
      return true;
    }
  }
  return false;
}

// Follows the terms' axis from the softmax up to the product.
bool FollowAxes(SoftmaxProduct& p, ShapeMap& shapes) {
  p.axis = p.scores_axis;
  p.repeats.assign(shapes.Of(p.softmax).size(), false);
  for (auto it = p.movement.rbegin(); it != p.movement.rend(); ++it) {
    const UOp* m = *it;
    const Shape &from = shapes.Of(m->src(0)), &to = shapes.Of(m);
    std::vector<bool> repeats(to.size(), false);
    for (size_t k = 0; k < from.size(); ++k) {
      if (!p.repeats[k]) continue;
      const std::optional<size_t> at = AxisThrough(m, k, shapes);
      if (!at) return false;
      repeats[*at] = true;
    }
    if (m->op == Op::kExpand) {
      for (size_t k = 0; k < to.size(); ++k) {
        if (from[k].Is(1) && !to[k].Is(1)) repeats[k] = true;
      }
    }
    const std::optional<size_t> at = AxisThrough(m, p.axis, shapes);
    if (!at) return false;
    p.axis = *at;
    p.repeats = std::move(repeats);
  }
  return p.sum->list(1)[0] == static_cast<int64_t>(p.axis) && !p.repeats[p.axis];
}

}  // namespace

std::optional<size_t> AxisThrough(const UOp* m, size_t axis, ShapeMap& shapes) {
  const Shape &from = shapes.Of(m->src(0)), &to = shapes.Of(m);
  if (m->op == Op::kExpand) return from[axis] == to[axis] ? std::optional(axis) : std::nullopt;
  if (m->op == Op::kPermute) {
    for (size_t k = 0; k < to.size(); ++k) {
      if (m->list()[k] == static_cast<int64_t>(axis)) return k;
    }
  }
  if (m->op != Op::kReshape || !IsStatic(from) || !IsStatic(to)) return std::nullopt;
  int64_t before = 1, so_far = 1;
  for (size_t k = 0; k < axis; ++k) before *= from[k].value();
  for (size_t k = 0; k < to.size(); ++k) {
    if (so_far == before && to[k] == from[axis]) return k;
    so_far *= to[k].value();
  }
  return std::nullopt;
}

std::optional<Scalar> NarrowTypeOf(const SoftmaxProduct& p) {
  const UOp* u = p.other();
  while (IsMovement(u->op)) u = u->src(0);
  if (!p.wide || u->op != Op::kCast) return std::nullopt;
  const Scalar from = u->src(0)->dtype.scalar();
  const bool multiplies = MatrixInstructionFor(from, from, p.sum->dtype.scalar()).has_value();
  return multiplies ? std::optional(from) : std::nullopt;
}

std::optional<SoftmaxProduct> FindSoftmaxProduct(const UOp* u, ShapeMap& shapes, bool wide) {
  if (u->op != Op::kReduceAxis || static_cast<Op>(u->word()) != Op::kAdd) return std::nullopt;
  if (!u->dtype.is_float() || u->list(1).size() != 1) return std::nullopt;
  const UOp* product = u->src(0);
  if (product->op != Op::kMul || !IsStatic(shapes.Of(product))) return std::nullopt;
  for (size_t i = 0; i < 2; ++i) {
    SoftmaxProduct p;
    p.sum = u;
    p.factor = i;
    p.wide = wide;
    const UOp* x = Unwrapped(product->src(i), wide);
    for (; IsMovement(x->op); x = Unwrapped(x->src(0), wide)) p.movement.push_back(x);
    if (MatchSoftmax(x, p, shapes) && FollowAxes(p, shapes)) return p;
  }
  return std::nullopt;
}

bool IsRepeatedAlong(const UOp* x, size_t axis, ShapeMap& shapes, const UOp** below,
                     bool through_casts) {
  bool repeats = false;
  std::optional<size_t> at = axis;
  std::vector<const UOp*> down;
  for (; IsMovement(x->op) || (through_casts && x->op == Op::kCast); x = x->src(0)) {
    if (x->op != Op::kCast) down.push_back(x);
  }
  for (const UOp* m : down) {
    const Shape &from = shapes.Of(m->src(0)), &to = shapes.Of(m);
    if (m->op == Op::kExpand) *below = m->src(0);
    if (!at) continue;
    if (m->op == Op::kExpand) {
      if (from[*at].Is(1) && !to[*at].Is(1)) repeats = true, at = std::nullopt;
    } else if (m->op == Op::kPermute) {
      at = static_cast<size_t>(m->list()[*at]);
    } else {
      std::optional<size_t> source;
      for (size_t k = 0; k < from.size() && !source; ++k) {
        if (AxisThrough(m, k, shapes) == at && from[k] == to[*at]) source = k;
      }
      at = source;
    }
  }
  return repeats;
}

}  // namespace tg::kernelize
