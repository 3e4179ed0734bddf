// The semantics of each op of a pattern over any domain of values: numbers, bit-vectors of a
// solver, or integers of a solver. One switch serves all, so that a proof and an exhaustive check
// use the same definition. It must agree with ir/interpret, of which it is independent and by which
// constants are folded.
//
// A domain D has: Value, Bool, Lit(int64_t), Add, Sub, Mul, FloorDiv and TruncDiv (divisor not 0),
// Lt, Eq, Ite(Bool, Value, Value), And, Or, Xor, Shl, Shr (any amount), Not, Both, Either, Truth.
#ifndef TG_PASSES_REWRITE_PROVE_SEMANTICS_H_
#define TG_PASSES_REWRITE_PROVE_SEMANTICS_H_

#include "base/check.h"
#include "ir/op.h"

namespace tg::prove {

// The result of an op from numbers to a number; `b` is ignored by a unary op.
template <typename D>
typename D::Value Arithmetic(D& d, Op op, const typename D::Value& a, const typename D::Value& b) {
  const auto zero = d.Lit(0);
  switch (op) {
    case Op::kAdd:
      return d.Add(a, b);
    case Op::kSub:
      return d.Sub(a, b);
    case Op::kMul:
      return d.Mul(a, b);
    case Op::kNeg:
      return d.Sub(zero, a);
    case Op::kFloorDiv:
      return d.Ite(d.Eq(b, zero), zero, d.FloorDiv(a, b));
    case Op::kFloorMod:
      return d.Sub(a, d.Mul(Arithmetic(d, Op::kFloorDiv, a, b), b));
    case Op::kCDiv:
      return d.Ite(d.Eq(b, zero), zero, d.TruncDiv(a, b));
    case Op::kCMod:
      return d.Sub(a, d.Mul(Arithmetic(d, Op::kCDiv, a, b), b));
    case Op::kMax:
      return d.Ite(d.Lt(a, b), b, a);
    case Op::kMin:
      return d.Ite(d.Lt(b, a), b, a);
    case Op::kAnd:
      return d.And(a, b);
    case Op::kOr:
      return d.Or(a, b);
    case Op::kXor:
      return d.Xor(a, b);
    case Op::kShl:
      return d.Shl(a, b);
    case Op::kShr:
      return d.Shr(a, b);
    default:
      TG_UNREACHABLE();
  }
}

// The result of an op from two bools to a bool.
template <typename D>
typename D::Bool Logic(D& d, Op op, const typename D::Bool& a, const typename D::Bool& b) {
  switch (op) {
    case Op::kAdd:
    case Op::kMax:
    case Op::kOr:
      return d.Either(a, b);
    case Op::kMul:
    case Op::kMin:
    case Op::kAnd:
      return d.Both(a, b);
    case Op::kXor:
    case Op::kCmpNe:
      return d.Either(d.Both(a, d.Not(b)), d.Both(d.Not(a), b));
    case Op::kCmpLt:
      return d.Both(d.Not(a), b);
    default:
      TG_UNREACHABLE();
  }
}

}  // namespace tg::prove

#endif  // TG_PASSES_REWRITE_PROVE_SEMANTICS_H_
