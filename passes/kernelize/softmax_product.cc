#include "passes/kernelize/softmax_product.h"

#include <limits>
#include <utility>

#include "ir/matrix/matrix_instruction.h"
#include "ir/value.h"
#include "passes/analysis/extents.h"

namespace tg::kernelize {
namespace {

constexpr double kLowest = -std::numeric_limits<double>::infinity();

bool IsReduceAlong(const UOp* u, Op op, const UOp* of, size_t axis, bool wide) {
  return u->op == Op::kReduceAxis && static_cast<Op>(u->word()) == op &&
         Unwrapped(u->src(0), wide) == of && u->list(1).size() == 1 &&
         u->list(1)[0] == static_cast<int64_t>(axis);
}

// The row that `repeated`, of the shape of `like`, repeats along `axis`; null if it does more.
const UOp* RowOf(const UOp* repeated, const UOp* like, size_t axis, ShapeMap& shapes, bool wide) {
  repeated = Unwrapped(repeated, wide);
  while (repeated->op == Op::kDetach) repeated = Unwrapped(repeated->src(0), wide);
  if (repeated->op != Op::kExpand || shapes.Of(repeated) != shapes.Of(like)) return nullptr;
  const UOp* row = Unwrapped(repeated->src(0), wide);
  while (row->op == Op::kDetach) row = Unwrapped(row->src(0), wide);
  Shape want = shapes.Of(like);
  want[axis] = 1;
  return shapes.Of(row) == want ? row : nullptr;
}

// A row that is a reduce, or combines one with another value.
struct Row {
  const UOp *reduce = nullptr, *other = nullptr;
};

Row RowOfReduce(const UOp* row, Op combines, bool wide) {
  if (row->op == Op::kReduceAxis) return {row};
  if (row->op != combines) return {};
  for (size_t k = 0; k < 2; ++k) {
    const UOp* x = Unwrapped(row->src(k), wide);
    if (x->op == Op::kReduceAxis) return {x, Unwrapped(row->src(1 - k), wide)};
  }
  return {};
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
  for (size_t axis = 0; axis < shapes.Of(p.scores).size(); ++axis) {
    p.greatest = RowOf(x->src(1), p.scores, axis, shapes, p.wide);
    const Row row = p.greatest ? RowOfReduce(p.greatest, Op::kMax, p.wide) : Row();
    if (!row.reduce || !IsReduceAlong(row.reduce, Op::kMax, p.scores, axis, p.wide)) continue;
    p.maximum = row.reduce, p.sink = row.other, p.scores_axis = axis;
    return true;
  }
  return false;
}

// The factor that is not the scale, if there is a scale.
const UOp* Unscaled(const UOp* x, const SoftmaxProduct& p) {
  x = Unwrapped(x, p.wide);
  if (!p.scale) return x;
  if (x->op != Op::kMul || (x->src(0) != p.scale && x->src(1) != p.scale)) return nullptr;
  return Unwrapped(x->src(x->src(1) == p.scale ? 0 : 1), p.wide);
}

// Sets the total from the row that is: the exponentials' sum, and the sink's exponential.
bool MatchTotal(const UOp* row, SoftmaxProduct& p) {
  const Row total = row ? RowOfReduce(row, Op::kAdd, p.wide) : Row();
  if (!total.reduce ||
      !IsReduceAlong(total.reduce, Op::kAdd, p.exponential, p.scores_axis, p.wide)) {
    return false;
  }
  p.total = total.reduce;
  if (!total.other || !p.sink) return !total.other && !p.sink;
  const UOp* difference = total.other->op == Op::kExp2 ? Unscaled(total.other->src(0), p) : nullptr;
  if (!difference || difference->op != Op::kSub) return false;
  const UOp* greatest = Unwrapped(difference->src(1), p.wide);
  while (greatest->op == Op::kDetach) greatest = Unwrapped(greatest->src(0), p.wide);
  return Unwrapped(difference->src(0), p.wide) == p.sink && greatest == p.greatest;
}

// Whether `u` is 1 / total, repeated along the terms.
bool IsInverseTotal(const UOp* u, SoftmaxProduct& p, ShapeMap& shapes) {
  u = Unwrapped(u, p.wide);
  if (u->op == Op::kRecip) {
    return MatchTotal(RowOf(u->src(0), p.exponential, p.scores_axis, shapes, p.wide), p);
  }
  const UOp* row = RowOf(u, p.exponential, p.scores_axis, shapes, p.wide);
  return row && row->op == Op::kRecip && MatchTotal(Unwrapped(row->src(0), p.wide), p);
}

bool MatchSoftmax(const UOp* u, SoftmaxProduct& p, ShapeMap& shapes) {
  p.softmax = u;
  if (u->op == Op::kDiv) {
    if (!MatchExponential(Unwrapped(u->src(0), p.wide), p, shapes)) return false;
    return MatchTotal(RowOf(u->src(1), p.exponential, p.scores_axis, shapes, p.wide), p);
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

bool IsConstant(const UOp* u, double value) {
  return IsConst(u) && u->dtype.is_float() && DoubleFromBits(u->dtype.scalar(), u->word()) == value;
}

// Whether a row of bools is true where all scores are -inf (`hidden`), or false there.
bool IsWhetherHidden(const UOp* row, bool hidden, const SoftmaxProduct& p) {
  for (; Negates(row); row = Unstaged(row->src(0))) hidden = !hidden;
  if (row->op != Op::kCmpNe || hidden || !IsConstant(row->src(1), kLowest)) return false;
  const UOp* x = Unwrapped(row->src(0), p.wide);
  while (x->op == Op::kDetach) x = Unwrapped(x->src(0), p.wide);
  return x == p.maximum;
}

// A softmax, or one of which rows are replaced by zeros.
bool MatchClearedSoftmax(const UOp* u, SoftmaxProduct& p, ShapeMap& shapes) {
  if (u->op != Op::kWhere) return MatchSoftmax(u, p, shapes);
  for (const size_t at : {1, 2}) {
    const UOp* softmax = Unwrapped(u->src(at), p.wide);
    if (!IsConstant(u->src(3 - at), 0) || !MatchSoftmax(softmax, p, shapes)) continue;
    const bool where_true = at == 2;
    const UOp* condition = Unstaged(u->src(0));
    const UOp* row = RowOf(condition, p.exponential, p.scores_axis, shapes, p.wide);
    if (row && IsWhetherHidden(row, where_true, p)) {
      p.cleared = ClearedRows::kHidden;
      return true;
    }
    bool differs = where_true;
    for (; Negates(condition); condition = Unstaged(condition->src(0))) differs = !differs;
    const bool is_nan = condition->op == Op::kCmpNe && differs &&
                        Unwrapped(condition->src(0), p.wide) == softmax &&
                        Unwrapped(condition->src(1), p.wide) == softmax;
    if (is_nan) p.cleared = ClearedRows::kNan;
    return is_nan;
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
  if (m->op != Op::kReshape) return std::nullopt;
  analysis::Extents before, so_far;
  for (size_t k = 0; k < axis; ++k) before.Multiply(from[k]);
  for (size_t k = 0; k < to.size(); ++k) {
    if (so_far == before && to[k] == from[axis]) return k;
    so_far.Multiply(to[k]);
  }
  return std::nullopt;
}

bool Negates(const UOp* u) {
  return (u->op == Op::kXor || u->op == Op::kCmpNe) && u->src(0)->dtype == kBool &&
         IsConst(u->src(1)) && u->src(1)->word() != 0;
}

std::optional<Scalar> MatrixTypeOf(const SoftmaxProduct& p) {
  const UOp* u = p.other();
  while (IsMovement(u->op)) u = u->src(0);
  const bool widens = u->op == Op::kCast && u->src(0)->dtype.is_float();
  if (widens ? !p.wide : !p.matrices) return std::nullopt;
  const Scalar from = (widens ? u->src(0) : u)->dtype.scalar();
  const bool multiplies = MatrixInstructionFor(from, from, p.sum->dtype.scalar(), {}).has_value();
  return multiplies ? std::optional(from) : std::nullopt;
}

std::optional<SoftmaxProduct> FindSoftmaxProduct(const UOp* u, ShapeMap& shapes, bool wide) {
  if (u->op != Op::kReduceAxis || static_cast<Op>(u->word()) != Op::kAdd) return std::nullopt;
  if (!u->dtype.is_float() || u->list(1).size() != 1) return std::nullopt;
  const UOp* product = u->src(0);
  if (product->op != Op::kMul) return std::nullopt;
  for (size_t i = 0; i < 2; ++i) {
    SoftmaxProduct p;
    p.sum = u;
    p.factor = i;
    p.wide = wide;
    const UOp* x = Unwrapped(product->src(i), wide);
    for (; IsMovement(x->op); x = Unwrapped(x->src(0), wide)) p.movement.push_back(x);
    if (MatchClearedSoftmax(x, p, shapes) && FollowAxes(p, shapes)) return p;
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
