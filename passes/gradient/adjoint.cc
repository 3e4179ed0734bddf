#include "passes/gradient/adjoint.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/check.h"
#include "ir/op_groups.h"

namespace tg::gradient {
namespace {

using Axes = std::vector<int64_t>;

// Sums `dy` over the axes that repeat those of extent 1 of the source, aligned at the last axis.
const UOp* SumRepeats(GradientGraph& g, const UOp* u, const UOp* dy) {
  const Shape& from = g.shapes.Of(u->src(0));
  const Shape& to = g.shapes.Of(u);
  const size_t front = to.size() - from.size();
  Axes axes;
  for (size_t i = 0; i < to.size(); ++i) {
    if (i < front || (from[i - front].Is(1) && !to[i].Is(1)))
      axes.push_back(static_cast<int64_t>(i));
  }
  if (axes.empty()) return dy;
  const UOp* sum = g.b.ReduceAxis(dy, Op::kAdd, axes);
  return front == 0 ? sum : g.b.Reshape(sum, from);
}

const UOp* Inverse(GradientGraph& g, const UOp* dy, std::span<const int64_t> order) {
  Axes inverse(order.size());
  for (size_t i = 0; i < order.size(); ++i) {
    inverse[static_cast<size_t>(order[i])] = static_cast<int64_t>(i);
  }
  return g.b.Permute(dy, inverse);
}

// The gradient of a pad is cut, that of a slice is padded.
const UOp* Resize(GradientGraph& g, const UOp* u, const UOp* dy) {
  Context& ctx = g.b.context();
  const Shape& from = g.shapes.Of(u->src(0));
  std::vector<std::pair<Dim, Dim>> pairs = PairsOf(u);
  for (size_t i = 0; i < pairs.size(); ++i) {
    auto& [first, second] = pairs[i];
    second = u->op == Op::kPad ? AddDims(ctx, first, from[i]) : SubDims(ctx, from[i], second);
  }
  return u->op == Op::kPad ? g.b.Shrink(dy, pairs) : g.b.Pad(dy, pairs);
}

// Equal extrema share the gradient.
const UOp* OfExtremum(GradientGraph& g, const UOp* u, const UOp* dy,
                      std::span<const int64_t> axes) {
  Builder& b = g.b;
  const UOp* x = u->src(0);
  const Shape& shape = g.shapes.Of(x);
  const UOp* differs = b.Alu(Op::kCmpNe, {x, b.Expand(u, shape)});
  const UOp* zero = b.Const(x->dtype, 0);
  const UOp* is_extremum = b.Where(differs, zero, b.Const(x->dtype, 1));
  const UOp* share = b.Alu(Op::kDiv, {dy, b.ReduceAxis(is_extremum, Op::kAdd, axes)});
  return b.Where(differs, zero, b.Expand(share, shape));
}

// The product of the other factors: the quotient, or where a factor is 0, the product without it.
const UOp* OfProduct(GradientGraph& g, const UOp* u, const UOp* dy, std::span<const int64_t> axes) {
  Builder& b = g.b;
  const UOp* x = u->src(0);
  const Shape& shape = g.shapes.Of(x);
  const UOp *zero = b.Const(x->dtype, 0), *one = b.Const(x->dtype, 1);
  const UOp* nonzero = b.Alu(Op::kCmpNe, {x, zero});
  const UOp* factor = b.Where(nonzero, x, one);
  const UOp* zeros = b.ReduceAxis(b.Where(nonzero, zero, one), Op::kAdd, axes);
  const UOp* without = b.ReduceAxis(factor, Op::kMul, axes);
  const UOp* only = b.Where(b.Alu(Op::kCmpNe, {zeros, one}), zero, without);
  const UOp* quotient = b.Alu(Op::kDiv, {b.Expand(u, shape), factor});
  return b.Mul(b.Expand(dy, shape), b.Where(nonzero, quotient, b.Expand(only, shape)));
}

}  // namespace

const UOp* Passed(GradientGraph&, const UOp*, const UOp* dy, size_t) { return dy; }

const UOp* Zero(GradientGraph&, const UOp*, const UOp*, size_t) { return nullptr; }

const UOp* OfCast(GradientGraph& g, const UOp* u, const UOp* dy, size_t) {
  return g.b.Cast(dy, u->src(0)->dtype);
}

const UOp* Stored(GradientGraph& g, const UOp*, const UOp* dy, size_t) {
  return g.b.Alu(Op::kContiguous, {dy});
}

const UOp* OfCopy(GradientGraph& g, const UOp* u, const UOp* dy, size_t) {
  const DeviceId from = g.devices.Of(u->src(0));
  if (from == g.devices.Of(dy) || from == kAnyDevice) return dy;
  Context& ctx = g.b.context();
  const int64_t name = ctx.Intern(g.devices.Name(from));
  return ctx.Make(Op::kCopy, dy->dtype, {dy}, ctx.MakeAttr(Op::kCopy, {name}));
}

const UOp* OfBufferView(GradientGraph& g, const UOp* u, const UOp* dy, size_t) {
  const Shape& from = g.shapes.Of(u->src(0));
  Dim size = 1;
  for (const Dim& d : from) size = MulDims(g.b.context(), size, d);
  const Dim after = SubDims(g.b.context(), size, u->word(0) + u->word(1));
  return g.b.Reshape(g.b.Pad(dy, {{u->word(0), after}}), from);
}

const UOp* OfAssign(GradientGraph&, const UOp*, const UOp* dy, size_t source) {
  // The value is the target afterwards, which does not depend on what was there before.
  return source == 1 ? dy : nullptr;
}

const UOp* OfAfter(GradientGraph& g, const UOp* u, const UOp* dy, size_t source) {
  // What is written last to all of source 0 is its value.
  const UOp* write = u->src(1);
  if (u->num_srcs != 2 || write->op != Op::kAssign || write->src(0) != u->src(0)) {
    return g.Refuse("writes replace a part of its source");
  }
  return source == 1 ? dy : nullptr;
}

const UOp* OfMovement(GradientGraph& g, const UOp* u, const UOp* dy, size_t source) {
  TG_CHECK(source == 0);  // the others are extents
  switch (MovementOp(u->op)) {
    case MovementOp::kReshape:
      return g.b.Reshape(dy, g.shapes.Of(u->src(0)));
    case MovementOp::kExpand:
    case MovementOp::kBroadcast:
      return SumRepeats(g, u, dy);
    case MovementOp::kPermute:
      return Inverse(g, dy, u->list());
    case MovementOp::kFlip:
      return g.b.Flip(dy, u->list());
    case MovementOp::kPad:
    case MovementOp::kShrink:
      return Resize(g, u, dy);
    case MovementOp::kView:
      return OfView(g, u, dy);
  }
  TG_UNREACHABLE();
}

const UOp* OfReduce(GradientGraph& g, const UOp* u, const UOp* dy, size_t) {
  const auto axes = u->list(1);
  switch (static_cast<Op>(u->word(0))) {
    case Op::kAdd:
      return g.b.Expand(dy, g.shapes.Of(u->src(0)));
    case Op::kMax:
    case Op::kMin:
      return OfExtremum(g, u, dy, axes);
    case Op::kMul:
      return OfProduct(g, u, dy, axes);
    default:
      return g.Refuse("it is no reduction of floats");
  }
}

}  // namespace tg::gradient
