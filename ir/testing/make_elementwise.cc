// Elementwise ops, casts, reductions and index arithmetic of random graphs.
#include <algorithm>
#include <cmath>

#include "ir/interpret/scalar.h"
#include "ir/testing/graph_maker.h"
#include "ir/value.h"

namespace tg::testing {
namespace {

std::vector<Op> FindElementwiseOps(bool of_integers) {
  std::vector<Op> ops;
  for (int i = 0; i < kNumOps; ++i) {
    const Op op = static_cast<Op>(i);
    const OpInfo& info = GetOpInfo(op);
    if (!IsElementwise(op) || IsIdentity(op) || info.classes.empty()) continue;
    if (of_integers && (!info.AllowsClass('i') || op == Op::kThreefry || op == Op::kDot4)) continue;
    ops.push_back(op);
  }
  return ops;
}

const std::vector<Op>& ElementwiseOps(bool of_integers) {
  static const auto& any = *new std::vector<Op>(FindElementwiseOps(false));
  static const auto& integers = *new std::vector<Op>(FindElementwiseOps(true));
  return of_integers ? integers : any;
}

bool IsTranscendental(Op op) {
  return op == Op::kExp2 || op == Op::kLog2 || op == Op::kSin || op == Op::kPow;
}

// Whether small errors of operands cause only small errors of the result.
bool IsGentle(Op op) {
  switch (op) {
    case Op::kAdd:
    case Op::kSub:
    case Op::kMul:
    case Op::kMulAcc:
    case Op::kNeg:
    case Op::kMax:
    case Op::kMin:
    case Op::kWhere:
      return true;
    default:
      return false;
  }
}

bool IsDivision(Op op) {
  return op == Op::kFloorDiv || op == Op::kFloorMod || op == Op::kCDiv || op == Op::kCMod;
}

}  // namespace

Value GraphMaker::Elementwise() {
  const Op op = rng_.Pick(ElementwiseOps(/*of_integers=*/options_.narrow));
  if (op == Op::kThreefry) return ElementwiseOf(op, Scalar::kU64);
  if (op == Op::kDot4) return ElementwiseOf(op, Scalar::kI32);
  const std::vector<Scalar> scalars = ScalarsOf(GetOpInfo(op).classes);
  Scalar s = PickScalar(scalars);
  // Often picks a type that the pool has, so that not every second node is a cast.
  if (rng_.Percent(45)) {
    const Scalar recent = Recent().scalar();
    if (std::find(scalars.begin(), scalars.end(), recent) != scalars.end()) s = recent;
  }
  return ElementwiseOf(op, s);
}

Value GraphMaker::ElementwiseOf(Op op, Scalar s) {
  const OpInfo& info = GetOpInfo(op);
  const bool is_float = IsFloat(s);
  const bool exact = !(is_float && IsGentle(op));
  Value base = Source(s);
  if (exact) base = Exact(base);
  std::vector<Value> operands;
  for (int i = 0; i < info.min_sources; ++i) {
    if (info.type_rule == TypeRule::kWhere && i == 0) {
      operands.push_back(Operand(Scalar::kBool, base, true));
    } else if (i == (info.type_rule == TypeRule::kWhere ? 1 : 0)) {
      operands.push_back(base);
    } else if (rng_.Percent(5)) {
      operands.push_back(base);
    } else if (i == 1 && IsDivision(op) && rng_.Percent(35)) {
      operands.push_back(Constant(s, /*nonzero=*/true));
    } else if (i == 1 && (op == Op::kShl || op == Op::kShr) && rng_.Percent(45)) {
      const int64_t amount = rng_.In(IsSigned(s) ? -2 : 0, BitWidth(s) + 2);
      operands.push_back(Wrap(b_.ConstInt(DType(s), amount)));
    } else {
      operands.push_back(Operand(s, base, exact));
    }
  }
  if (operands.size() == 2 && rng_.Percent(40)) std::swap(operands[0], operands[1]);
  // The result is rough if the op is transcendental or an operand is rough.
  bool rough = IsTranscendental(op);
  std::vector<const UOp*> srcs;
  for (const Value& v : operands) {
    srcs.push_back(v.node);
    rough |= v.rough;
  }
  return Wrap(b_.Alu(op, srcs), rough && s != Scalar::kVoid, is_float);
}

// A single conversion, or a chain through other types that may return to the first.
Value GraphMaker::Cast() {
  const Value from = Recent();
  Value v = from;
  for (int64_t n = rng_.Pick({1, 1, 2, 2, 3}); n > 0; --n) {
    const bool back = n == 1 && rng_.Percent(25);
    v = ToScalar(v, back ? from.scalar() : PickScalar(ScalarsOf(rng_.Percent(60) ? "if" : "bif")));
  }
  return v;
}

Value GraphMaker::ReduceTuple(const Value& x, const std::vector<int64_t>& axes) {
  const DType t = x.node->dtype;
  const bool is_float = t.is_float();
  const auto carried = [&](int64_t i) { return b_.Carried(t, i); };
  const auto identity = [&](Op op) {
    return b_.ConstBits(t, interpret::ReduceIdentity(op, t.scalar()));
  };
  const int64_t result = rng_.Below(2);
  const bool has_infinity = t.scalar() != Scalar::kFp8E4M3;
  if (is_float && has_infinity) {
    // A maximum, and a sum of values scaled by it, as of an online softmax. Without an infinity, a
    // difference from the identity may overflow, so that it is none.
    const UOp* most = b_.Alu(Op::kMax, {carried(0), carried(2)});
    const UOp* finite =
        b_.Where(b_.Alu(Op::kCmpNe, {most, identity(Op::kMax)}), most, b_.Const(t, 0));
    const UOp* sum = nullptr;
    for (int64_t i : {0, 1}) {
      const UOp* scale = b_.Alu(Op::kExp2, {b_.Sub(carried(2 * i), finite)});
      const UOp* term = b_.Mul(carried(2 * i + 1), scale);
      sum = sum ? b_.Add(sum, term) : term;
    }
    const UOp* ones =
        b_.Alu(Op::kWhere, {b_.Alu(Op::kCmpNe, {x.node, x.node}), x.node, b_.Const(t, 1)});
    const UOp* sources[] = {x.node, ones, identity(Op::kMax), b_.Const(t, 0), most, sum};
    return Wrap(b_.ReduceTuple(sources, result, axes), result == 1 || x.rough, true);
  }
  const int64_t factor = rng_.Pick({3, 5, 7});
  const UOp* other =
      b_.Mul(x.node, is_float ? b_.Const(t, static_cast<double>(factor)) : b_.ConstInt(t, factor));
  const UOp *first = nullptr, *second = nullptr;
  Op with = Op::kMax;
  if (!is_float && rng_.Percent(50)) {
    // The greatest, and the greatest of what goes with it.
    const UOp* equal = b_.Not(b_.Alu(Op::kCmpNe, {carried(0), carried(2)}));
    const UOp* next = b_.Alu(
        Op::kOr, {b_.Lt(carried(0), carried(2)), b_.And(equal, b_.Lt(carried(1), carried(3)))});
    first = b_.Where(next, carried(2), carried(0));
    second = b_.Where(next, carried(3), carried(1));
  } else {
    with = is_float ? Op::kMin : rng_.Pick({Op::kAdd, Op::kXor});
    first = b_.Alu(Op::kMax, {carried(0), carried(2)});
    second = b_.Alu(with, {carried(1), carried(3)});
  }
  const UOp* sources[] = {x.node, other, identity(Op::kMax), identity(with), first, second};
  return Wrap(b_.ReduceTuple(sources, result, axes), x.rough, is_float);
}

Value GraphMaker::Reduce(const Value& from) {
  Value x = from;
  if (x.shape.empty() || rng_.Percent(20)) x = ToShape(x, RandomShape());
  const Scalar s = x.scalar();
  Op op = rng_.Pick({Op::kAdd, Op::kMul, Op::kMax, Op::kMin});
  if (!IsFloat(s) && rng_.Percent(40)) op = rng_.Pick({Op::kAnd, Op::kOr, Op::kXor});
  std::vector<int64_t> axes;
  const auto rank = static_cast<int64_t>(x.shape.size());
  int64_t terms = 1;
  for (int64_t i = 0; i < rank; ++i) {
    if (!rng_.Percent(axes.empty() && i + 1 == rank ? 95 : 50)) continue;
    axes.push_back(i);
    terms *= x.extents[static_cast<size_t>(i)];
  }
  if (IsFloat(s) && op == Op::kMul && terms > 8) op = Op::kAdd;
  if (IsFloat(s) && (op == Op::kMax || op == Op::kMin)) {
    // The order of evaluation determines the sign of a zero; x + 0 is never -0.
    x = Wrap(b_.Add(x.node, b_.ConstInt(x.node->dtype, 0)), x.rough, true);
  } else if (!IsFloat(s)) {
    x = Exact(x);
  }
  if (s != Scalar::kBool && rng_.Percent(12)) return ReduceTuple(x, axes);
  const bool rough = x.rough || (IsFloat(s) && (op == Op::kAdd || op == Op::kMul));
  Value r = Wrap(b_.ReduceAxis(x.node, op, axes), rough, IsFloat(s));
  // Combines the result with its operand, as softmax does.
  if (rng_.Percent(35)) {
    Value full = Moved(r, b_.Expand(r.node, x.shape));
    if (IsFloat(s) && rng_.Percent(60)) {
      Push(r);
      const Op with = rng_.Pick({Op::kSub, Op::kAdd, Op::kMul, Op::kMax});
      return Wrap(b_.Alu(with, {x.node, full.node}), rough, true);
    }
    return full;
  }
  if (rng_.Percent(40)) {
    Shape remaining;
    for (int64_t i = 0; i < rank; ++i) {
      if (std::find(axes.begin(), axes.end(), i) == axes.end()) {
        remaining.push_back(x.shape[static_cast<size_t>(i)]);
      }
    }
    return Moved(r, b_.Reshape(r.node, remaining));
  }
  return r;
}

Value GraphMaker::Wrapper() {
  const Value v = Recent();
  const Op op = rng_.Pick(
      {Op::kContiguous, Op::kContiguous, Op::kDetach, Op::kContiguousBackward, Op::kFuse});
  return Moved(v, b_.context().Make(op, v.node->dtype, {v.node}));
}

Value GraphMaker::IndexScalar() {
  const auto pick = [&]() -> IndexValue {
    if (rng_.Percent(30)) {
      const int64_t c = rng_.In(-6, 12);
      return {b_.Index(c), std::fabs(static_cast<double>(c))};
    }
    return rng_.Pick(index_pool_);
  };
  for (int64_t n = rng_.In(1, 3); n > 0; --n) {
    const IndexValue a = pick(), b = pick(), c = pick();
    const Op op =
        rng_.Pick({Op::kNeg, Op::kAdd, Op::kSub, Op::kMul, Op::kFloorDiv, Op::kFloorMod, Op::kCDiv,
                   Op::kCMod, Op::kMax, Op::kMin, Op::kMulAcc, Op::kWhere, Op::kCmpLt, Op::kCmpNe});
    IndexValue v{nullptr, std::max(a.magnitude, b.magnitude)};
    switch (op) {
      case Op::kNeg:
        v = {b_.Alu(op, {a.node}), a.magnitude};
        break;
      case Op::kMul:
        v = {b_.Mul(a.node, b.node), a.magnitude * b.magnitude};
        break;
      case Op::kAdd:
      case Op::kSub:
        v = {b_.Alu(op, {a.node, b.node}), a.magnitude + b.magnitude};
        break;
      case Op::kMulAcc:
        v = {b_.Alu(op, {a.node, b.node, c.node}), a.magnitude * b.magnitude + c.magnitude};
        break;
      case Op::kWhere:
        v.node = b_.Where(b_.Lt(c.node, a.node), a.node, b.node);
        break;
      case Op::kCmpLt:
      case Op::kCmpNe:
        Push(Wrap(b_.Alu(op, {a.node, b.node})));
        continue;
      default:
        v.node = b_.Alu(op, {a.node, b.node});
    }
    // Far from an overflow, even after rewrite rules change the expression.
    if (v.magnitude < 0x1p20) index_pool_.push_back(v);
  }
  const Scalar s = rng_.Pick({Scalar::kI32, Scalar::kI64, Scalar::kF32, Scalar::kI8, Scalar::kU16});
  return Wrap(b_.Cast(rng_.Pick(index_pool_).node, DType(s)));
}

}  // namespace tg::testing
