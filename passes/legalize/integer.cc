#include "passes/legalize/integer.h"

#include <bit>

#include "ir/value.h"
#include "llvm/ADT/STLExtras.h"
#include "passes/analysis/bounds.h"
#include "passes/legalize/forward.h"
#include "passes/legalize/threefry.h"

namespace tg::legalize {

std::optional<MagicNumber> FindMagic(int64_t d, int64_t max, int64_t limit) {
  if (d < 2 || max < 0 || max == INT64_MAX) return std::nullopt;
  if (max < d) return MagicNumber{0, 0};
  const __int128 nc = static_cast<__int128>((max + 1) / d) * d - 1;
  for (int s = 0; s < 63; ++s) {
    const __int128 power = static_cast<__int128>(1) << s;
    const __int128 excess = d - 1 - (power - 1) % d;
    if (power <= nc * excess) continue;
    const __int128 m = (power + excess) / d;
    if (m * max > limit) return std::nullopt;
    return MagicNumber{static_cast<int64_t>(m), s};
  }
  return std::nullopt;
}

namespace {

class Integers {
 public:
  Integers(Body& body, const Module& module, bool has_dot4)
      : body_(body), b_(*body.context), bounds_(*body.context, &module), has_dot4_(has_dot4) {}

  void Run(UOpSpan order) {
    // Most kernels need no legalization and are left unchanged. Of ops with a float result, only
    // conversions may need it.
    const auto stays = [&](const UOp* u) {
      const bool converts = u->op == Op::kCast || u->op == Op::kBitcast;
      return !IsElementwise(u->op) || (u->dtype.is_float() && !converts) ||
             Rewrite(u, u->srcs()) == u;
    };
    if (llvm::all_of(order, stays)) return;
    ForwardRewrite(body_, order, [&](const UOp* u, UOpSpan srcs) {
      const UOp* v = Rewrite(u, srcs);
      // Keeps the interval of the old node: x - (x * 11 >> 5) * 3 is in 0..2 like x % 3, but
      // interval arithmetic does not see that.
      if (v != u && v->dtype.is_int() && u->dtype.is_int()) {
        bounds_.Declare(v, analysis::Intersect(bounds_.Of(u), bounds_.Of(v)));
      }
      return v;
    });
  }

 private:
  const UOp* Rewrite(const UOp* u, UOpSpan srcs);
  const UOp* Bool(const UOp* u, UOpSpan srcs);
  const UOp* Cast(const UOp* u, const UOp* x);
  const UOp* Shift(Op op, const UOp* x, const UOp* amount);
  const UOp* Divide(Op op, const UOp* x, const UOp* y);
  const UOp* Dot4(const UOp* x, const UOp* y, const UOp* sum);
  // Divides by a constant if there is a better way than a division; else null.
  const UOp* DivideByConst(Op op, const UOp* x, int64_t d);

  const UOp* Int(const UOp* like, int64_t v) { return b_.ConstInt(like->dtype, v); }
  const UOp* IsNot(const UOp* x, int64_t v) { return b_.Alu(Op::kCmpNe, {x, Int(x, v)}); }

  Body& body_;
  Builder b_;
  analysis::Bounds bounds_;
  const bool has_dot4_;
};

const UOp* Integers::DivideByConst(Op op, const UOp* x, int64_t d) {
  const bool mod = op == Op::kFloorMod || op == Op::kCMod;
  const bool floor = op == Op::kFloorDiv || op == Op::kFloorMod;
  if (d == 0) return mod ? x : Int(x, 0);
  if (d == 1) return mod ? Int(x, 0) : x;
  if (IsUnsigned(x->dtype.scalar()) && d < 0) return nullptr;  // above INT64_MAX
  if (d == -1) return mod ? Int(x, 0) : b_.Alu(Op::kNeg, {x});
  const analysis::Interval range = bounds_.Of(x);
  const bool non_negative = range.lo >= 0;
  if (d > 0 && std::has_single_bit(static_cast<uint64_t>(d)) && (floor || non_negative)) {
    if (mod) return b_.And(x, Int(x, d - 1));
    return b_.Alu(Op::kShr, {x, Int(x, std::countr_zero(static_cast<uint64_t>(d)))});
  }
  if (!non_negative || d < 0) return nullptr;
  const int64_t limit = MaxValue(x->dtype.scalar());
  const auto magic = FindMagic(d, range.hi, limit < 0 ? INT64_MAX : limit);
  if (!magic) return nullptr;
  const UOp* q = Int(x, 0);
  if (magic->multiplier != 0) {
    q = b_.Mul(x, Int(x, magic->multiplier));
    if (magic->shift) q = b_.Alu(Op::kShr, {q, Int(x, magic->shift)});
  }
  return mod ? b_.Sub(x, b_.Mul(q, Int(x, d))) : q;
}

const UOp* Integers::Divide(Op op, const UOp* x, const UOp* y) {
  const analysis::Interval bx = bounds_.Of(x), by = bounds_.Of(y);
  const Scalar s = x->dtype.scalar();
  if (by.IsPoint()) {
    if (const UOp* q = DivideByConst(op, x, by.lo)) return q;
  }
  const bool mod = op == Op::kFloorMod || op == Op::kCMod;
  bool floor = op == Op::kFloorDiv || op == Op::kFloorMod;
  if (IsUnsigned(s) || (bx.lo >= 0 && by.lo >= 0)) floor = false;
  const bool zero = by.Contains(0);
  const bool minus_one = IsSigned(s) && by.Contains(-1) && bx.lo <= MinValue(s);

  // A divisor of 1 replaces an invalid divisor; the remainder is then 0.
  const UOp* not_zero = zero ? IsNot(y, 0) : nullptr;
  const UOp* not_minus_one = minus_one ? IsNot(y, -1) : nullptr;
  const UOp* d = y;
  if (zero) d = b_.Where(not_zero, d, Int(y, 1));
  if (minus_one) d = b_.Where(not_minus_one, d, Int(y, 1));
  const UOp* q = mod ? nullptr : b_.Alu(Op::kCDiv, {x, d});
  const UOp* r = mod ? b_.Alu(Op::kCMod, {x, d}) : floor ? b_.Sub(x, b_.Mul(q, d)) : nullptr;
  if (floor) {
    const UOp* negative_r = b_.Lt(r, Int(r, 0));
    const UOp* wrong_sign =
        by.lo >= 0 ? negative_r
                   : b_.And(IsNot(r, 0), b_.Alu(Op::kXor, {negative_r, b_.Lt(d, Int(d, 0))}));
    if (mod) {
      r = b_.Where(wrong_sign, b_.Add(r, d), r);
    } else {
      q = b_.Where(wrong_sign, b_.Sub(q, Int(q, 1)), q);
    }
  }
  if (mod) return zero ? b_.Where(not_zero, r, x) : r;
  if (minus_one) q = b_.Where(not_minus_one, q, b_.Alu(Op::kNeg, {x}));
  return zero ? b_.Where(not_zero, q, Int(q, 0)) : q;
}

const UOp* Integers::Shift(Op op, const UOp* x, const UOp* amount) {
  const Scalar s = x->dtype.scalar();
  const int bits = BitWidth(s);
  const analysis::Interval range = bounds_.Of(amount);
  if (range.lo >= 0 && range.hi < bits) return b_.Alu(op, {x, amount});
  const bool arithmetic = op == Op::kShr && IsSigned(s);
  // An amount that is out of range, negative ones included, gives 0; or the sign in every bit, as a
  // shift by bits - 1 does, if the shift is arithmetic.
  const UOp* in_range = nullptr;
  if (IsSigned(s)) {
    in_range = b_.And(b_.Lt(Int(x, -1), amount), b_.Lt(amount, Int(x, bits)));
  } else {
    in_range = b_.Lt(amount, Int(x, bits));
  }
  const UOp* safe = b_.Where(in_range, amount, Int(x, arithmetic ? bits - 1 : 0));
  const UOp* shifted = b_.Alu(op, {x, safe});
  return arithmetic ? shifted : b_.Where(in_range, shifted, Int(x, 0));
}

const UOp* Integers::Cast(const UOp* u, const UOp* x) {
  const DType to = u->dtype;
  if (x->dtype == to) return x;
  if (x->dtype.is_bool()) return b_.Where(x, b_.Const(to, 1), b_.Const(to, 0));
  if (to.is_bool()) return b_.Alu(Op::kCmpNe, {x, b_.Const(x->dtype, 0)});
  return b_.context().Make(u->op, to, {x});
}

const UOp* Integers::Dot4(const UOp* x, const UOp* y, const UOp* sum) {
  const DType t = x->dtype;
  const auto shifted = [&](Op op, const UOp* v, int64_t by) {
    return by == 0 ? v : b_.Alu(op, {v, b_.ConstInt(t, by)});
  };
  for (int byte = 0; byte < 4; ++byte) {
    const UOp* low = shifted(Op::kShr, x, 8 * byte);
    const UOp* high = shifted(Op::kShl, y, 24 - 8 * byte);
    sum = b_.Add(sum,
                 b_.Mul(b_.Alu(Op::kAnd, {low, b_.ConstInt(t, 255)}), shifted(Op::kShr, high, 24)));
  }
  return sum;
}

const UOp* Integers::Bool(const UOp* u, UOpSpan srcs) {
  const UOp* yes = b_.ConstInt(srcs[0]->dtype, 1);
  const auto negated = [&](const UOp* x) { return b_.Alu(Op::kXor, {x, yes}); };
  switch (u->op) {
    case Op::kAdd:
    case Op::kMax:
      return b_.Alu(Op::kOr, srcs);
    case Op::kMul:
    case Op::kMin:
      return b_.Alu(Op::kAnd, srcs);
    case Op::kCmpNe:
      return b_.Alu(Op::kXor, srcs);
    case Op::kCmpLt:
      return b_.And(negated(srcs[0]), srcs[1]);
    case Op::kWhere:
      return b_.Alu(Op::kOr, {b_.And(srcs[0], srcs[1]), b_.And(negated(srcs[0]), srcs[2])});
    default:
      return WithSources(b_, u, srcs);
  }
}

const UOp* Integers::Rewrite(const UOp* u, UOpSpan srcs) {
  if (!u->dtype.is_value() || srcs.empty()) return WithSources(b_, u, srcs);
  switch (u->op) {
    case Op::kCast:
      return Cast(u, srcs[0]);
    case Op::kBitcast:
      if (srcs[0]->dtype.is_bool() || u->dtype.is_bool()) {
        // A bool is the byte 0 or 1.
        const DType byte(Scalar::kU8, u->dtype.lanes());
        if (u->dtype.is_bool()) return Cast(u, b_.Bitcast(srcs[0], byte));
        return b_.Bitcast(b_.Where(srcs[0], b_.ConstInt(byte, 1), b_.ConstInt(byte, 0)), u->dtype);
      }
      break;
    case Op::kThreefry:
      return Threefry(b_, srcs[0], srcs[1]);
    case Op::kShl:
    case Op::kShr:
      return Shift(u->op, srcs[0], srcs[1]);
    case Op::kFloorDiv:
    case Op::kFloorMod:
    case Op::kCDiv:
    case Op::kCMod:
      return Divide(u->op, srcs[0], srcs[1]);
    case Op::kDot4:
      return has_dot4_ ? WithSources(b_, u, srcs) : Dot4(srcs[0], srcs[1], srcs[2]);
    case Op::kMulAcc:
      if (u->dtype.is_int()) return b_.Add(b_.Mul(srcs[0], srcs[1]), srcs[2]);
      break;
    default:
      if (IsElementwise(u->op) && u->dtype.is_bool() && srcs.back()->dtype.is_bool()) {
        return Bool(u, srcs);
      }
      break;
  }
  return WithSources(b_, u, srcs);
}

}  // namespace

void LegalizeIntegers(Body& body, const Module& module, UOpSpan order, bool has_dot4) {
  Integers(body, module, has_dot4).Run(order);
}

void SplitIntegerMulAcc(Body& body) {
  Builder b(*body.context);
  ForwardRewrite(body, [&](const UOp* u, UOpSpan srcs) {
    if (u->op == Op::kMulAcc && u->dtype.is_int_or_index()) {
      return b.Add(b.Mul(srcs[0], srcs[1]), srcs[2]);
    }
    return WithSources(b, u, srcs);
  });
}

}  // namespace tg::legalize
