#include "passes/simplify/fold.h"

#include <algorithm>
#include <cmath>

#include "ir/interpret/scalar.h"
#include "ir/value.h"
#include "llvm/ADT/SmallVector.h"
#include "passes/rewrite/build.h"

namespace tg::simplify {
namespace {

bool IsConstant(const UOp* u) { return u->op == Op::kConst || u->op == Op::kVConst; }
int64_t LaneBits(const UOp* u, size_t lane) {
  return u->op == Op::kConst ? u->word() : u->list()[lane];
}

// The bits of precision: of a float's significand, or of an integer's magnitude.
int Precision(Scalar s) {
  switch (s) {
    case Scalar::kFp8E4M3:
      return 4;
    case Scalar::kFp8E5M2:
      return 3;
    case Scalar::kBF16:
      return 8;
    case Scalar::kF16:
      return 11;
    case Scalar::kF32:
      return 24;
    case Scalar::kF64:
      return 53;
    default:
      return IsSigned(s) || s == Scalar::kIndex ? BitWidth(s) - 1 : BitWidth(s);
  }
}

// Whether a cast from `from` to `to` is injective and exact.
bool KeepsValues(Scalar from, Scalar to) {
  if (from == to || from == Scalar::kBool) return true;
  if (to == Scalar::kBool) return false;
  if (IsFloat(from)) {
    if (!IsFloat(to)) return false;
    if (to == Scalar::kF32) return from != Scalar::kF64;
    return to == Scalar::kF64;
  }
  if (IsFloat(to)) {
    return Precision(from) <= Precision(to) && (to == Scalar::kF32 || to == Scalar::kF64);
  }
  if (to == Scalar::kIndex) return from != Scalar::kU64;
  if (from == Scalar::kIndex) return false;
  if (IsSigned(from)) return IsSigned(to) && BitWidth(to) >= BitWidth(from);
  return Precision(to) >= Precision(from);
}

bool IsIntLike(Scalar s) { return IsInt(s) || s == Scalar::kIndex; }

// cast(cast(x: from, middle), to) == cast(x, to).
bool SkipsMiddle(Scalar from, Scalar middle, Scalar to) {
  if (to == Scalar::kBool) return KeepsValues(from, middle) && !IsFloat(from);
  // A cast of a float to an integer saturates, a cast of an integer wraps, so that they differ for
  // values that do not fit.
  if (IsFloat(middle) && !IsFloat(from) && IsIntLike(to) && !KeepsValues(from, to)) return false;
  if (KeepsValues(from, middle)) return true;
  // Casts between integers wrap: if the middle type has as many bits as the last, it loses none
  // that the last keeps.
  return IsIntLike(from) && IsInt(middle) && IsInt(to) && BitWidth(middle) >= BitWidth(to);
}

}  // namespace

const UOp* FoldConstants(const UOp* u, rewrite::RuleContext& rc) {
  for (const UOp* s : u->srcs()) {
    if (!IsConstant(s) || (s->dtype.lanes() != u->dtype.lanes() && s->op != Op::kConst)) {
      return nullptr;
    }
  }
  // Whether a multiply-add rounds once or twice depends on a flag of the module.
  if (u->op == Op::kMulAcc && u->dtype.is_float()) return nullptr;
  const auto lanes = static_cast<size_t>(u->dtype.lanes());
  llvm::SmallVector<int64_t, 16> out = {static_cast<int64_t>(lanes)};
  const Scalar to = u->dtype.scalar();
  const Scalar from = u->op == Op::kWhere ? to : u->src(0)->dtype.scalar();
  if (u->op == Op::kCast || u->op == Op::kBitcast) {
    if (u->op == Op::kBitcast && BitWidth(from) != BitWidth(to)) return nullptr;
    for (size_t i = 0; i < lanes; ++i) {
      const int64_t bits = LaneBits(u->src(0), i);
      out.push_back(u->op == Op::kCast ? CastBits(from, to, bits) : BitcastBits(from, to, bits));
    }
  } else {
    const int64_t* args[3] = {};
    llvm::SmallVector<int64_t, 16> same[3];  // lanes of a scalar among vectors
    for (size_t k = 0; k < u->num_srcs; ++k) {
      const UOp* s = u->src(k);
      if (s->op == Op::kConst) same[k].assign(lanes, s->word());
      args[k] = s->op == Op::kConst ? same[k].data() : s->list().data();
    }
    out.resize(1 + lanes);
    if (interpret::EvalAluLanes(u->op, from, lanes, args[0], args[1], args[2], &out[1]) != lanes) {
      return nullptr;
    }
  }
  if (lanes == 1) return rewrite::UniformConst(rc.ctx, u->dtype, out[1]);
  return rc.ctx.Make(
      Op::kVConst, u->dtype, {},
      rc.ctx.MakeAttr(Op::kVConst, std::span<const int64_t>(out.data(), out.size())));
}

const UOp* FoldReduceOfConstants(const UOp* u, rewrite::RuleContext& rc) {
  const UOp* x = u->src(0);
  if (u->num_srcs != 1 || x->op != Op::kVConst || x->dtype.is_float()) return nullptr;
  const auto lanes = static_cast<size_t>(u->dtype.lanes());
  const size_t terms = static_cast<size_t>(x->dtype.lanes()) / lanes;
  llvm::SmallVector<int64_t, 16> out = {static_cast<int64_t>(lanes)};
  for (size_t i = 0; i < lanes; ++i) {
    int64_t sum = LaneBits(x, i * terms);
    for (size_t k = 1; k < terms; ++k) {
      const int64_t args[] = {sum, LaneBits(x, i * terms + k)};
      const auto v = interpret::EvalAlu(static_cast<Op>(u->word()), x->dtype.scalar(), args);
      if (!v) return nullptr;
      sum = *v;
    }
    out.push_back(sum);
  }
  if (lanes == 1) return rewrite::UniformConst(rc.ctx, u->dtype, out[1]);
  return rc.ctx.Make(
      Op::kVConst, u->dtype, {},
      rc.ctx.MakeAttr(Op::kVConst, std::span<const int64_t>(out.data(), out.size())));
}

const UOp* FoldByBounds(const UOp* u, rewrite::RuleContext& rc) {
  if (!u->dtype.is_int_or_index() && !u->dtype.is_bool()) return nullptr;
  const analysis::Interval v = rc.bounds.Of(u);
  return v.IsPoint() ? rewrite::UniformConst(rc.ctx, u->dtype, v.lo) : nullptr;
}

const UOp* FoldIntoWhere(const UOp* u, rewrite::RuleContext& rc) {
  const UOp *a = u->src(0), *b = u->src(1);
  const auto make = [&](const UOp* x, const UOp* y) {
    return rc.ctx.Make(u->op, u->dtype, {x, y}, u->attr);
  };
  const auto where = [&](const UOp* gate, const UOp* x, const UOp* y) {
    return rc.ctx.Make(Op::kWhere, u->dtype, {gate, x, y});
  };
  if (a->op == Op::kWhere && b->op == Op::kWhere && a->src(0) == b->src(0)) {
    if ((IsConstant(a->src(1)) && IsConstant(b->src(1))) ||
        (IsConstant(a->src(2)) && IsConstant(b->src(2)))) {
      return where(a->src(0), make(a->src(1), b->src(1)), make(a->src(2), b->src(2)));
    }
    return nullptr;
  }
  if (a->op == Op::kWhere && IsConstant(b) && IsConstant(a->src(1)) && IsConstant(a->src(2))) {
    return where(a->src(0), make(a->src(1), b), make(a->src(2), b));
  }
  if (b->op == Op::kWhere && IsConstant(a) && IsConstant(b->src(1)) && IsConstant(b->src(2))) {
    return where(b->src(0), make(a, b->src(1)), make(a, b->src(2)));
  }
  return nullptr;
}

const UOp* FoldCast(const UOp* u, rewrite::RuleContext& rc) {
  const UOp* x = u->src(0);
  if (!u->dtype.is_value() || !x->dtype.is_value()) return nullptr;
  if (x->dtype == u->dtype) return x;
  const auto cast = [&](const UOp* v) { return rc.ctx.Make(u->op, u->dtype, {v}); };
  if (u->op == Op::kBitcast) {
    if (x->op != Op::kBitcast || x->src(0)->dtype.is_bool() || x->dtype.is_bool()) return nullptr;
    return cast(x->src(0));
  }
  const Scalar from = x->dtype.scalar(), to = u->dtype.scalar();
  if (to == Scalar::kBool && IsIntLike(from) && x->op != Op::kCast) return nullptr;
  if (x->op == Op::kCast && x->src(0)->dtype.is_value()) {
    const UOp* y = x->src(0);
    const Scalar origin = y->dtype.scalar();
    if (SkipsMiddle(origin, from, to)) return cast(y);
    // Drops the inner cast if bounds show that it changes no value: index to i32 and back.
    if (IsIntLike(origin) && IsIntLike(from) && to != Scalar::kBool &&
        rc.bounds.Of(y) == rc.bounds.Of(x) && rc.bounds.Of(y) != analysis::FullInterval(from)) {
      return cast(y);
    }
    return nullptr;
  }
  if (x->op == Op::kWhere && (IsConstant(x->src(1)) || IsConstant(x->src(2)))) {
    return rc.ctx.Make(Op::kWhere, u->dtype, {x->src(0), cast(x->src(1)), cast(x->src(2))});
  }
  return nullptr;
}

const UOp* WidenProduct(const UOp* u, rewrite::RuleContext& rc) {
  const UOp* x = u->src(0);
  if (!rc.flags.has(ModuleFlag::kWideProducts) || x->op != Op::kMul) return nullptr;
  const Scalar from = x->dtype.scalar();
  const bool is_half = from == Scalar::kF16 || from == Scalar::kBF16;
  if (!is_half || u->dtype.scalar() != Scalar::kF32) return nullptr;
  const auto cast = [&](const UOp* v) { return rc.ctx.Make(Op::kCast, u->dtype, {v}); };
  return rc.ctx.Make(Op::kMul, u->dtype, {cast(x->src(0)), cast(x->src(1))});
}

const UOp* FoldMulOfBool(const UOp* u, rewrite::RuleContext& rc) {
  const DType t = u->dtype;
  if (t.is_bool() || (t.is_float() && !rc.flags.has(ModuleFlag::kZeroMul))) return nullptr;
  for (size_t i = 0; i < 2; ++i) {
    const UOp* cast = u->src(i);
    if (cast->op != Op::kCast || !cast->src(0)->dtype.is_bool()) continue;
    return rc.ctx.Make(Op::kWhere, t,
                       {cast->src(0), u->src(1 - i), rewrite::UniformConst(rc.ctx, t, 0)});
  }
  return nullptr;
}

const UOp* FoldIntoIndex(const UOp* u, rewrite::RuleContext& rc) {
  const UOp* cast = u->src(0);
  const auto bits = rewrite::UniformBits(u->src(1));
  const Scalar s = u->dtype.scalar();
  if (!bits || cast->op != Op::kCast || (!IsInt(s) && !IsFloat(s))) return nullptr;
  const UOp* x = cast->src(0);
  if (x->dtype.scalar() != Scalar::kIndex) return nullptr;
  const int64_t c = CastBits(s, Scalar::kIndex, *bits);
  const analysis::Interval args[] = {rc.bounds.Of(x), analysis::Interval::Point(c)};
  const analysis::Interval after = analysis::AluInterval(u->op, Scalar::kIndex, args);
  // The new index must fit into 32 bits.
  if (analysis::Intersect(after, analysis::FullInterval(Scalar::kI32)) != after) return nullptr;
  if (IsFloat(s)) {
    // Exact if the float type holds the constant and all numbers before and after. Products are
    // excluded, since a float product that is 0 may be -0.0.
    const int64_t most = int64_t{1} << std::min(Precision(s), 31);
    const analysis::Interval exact = {-most, most};
    if (u->op != Op::kAdd || CastBits(Scalar::kIndex, s, c) != *bits ||
        analysis::Intersect(after, exact) != after ||
        analysis::Intersect(args[0], exact) != args[0]) {
      return nullptr;
    }
  }
  const UOp* number = rewrite::UniformConst(rc.ctx, x->dtype, c);
  return rc.ctx.Make(Op::kCast, u->dtype, {rc.ctx.Make(u->op, x->dtype, {x, number})});
}

namespace {

// Whether no lane of `u` can be -0.0, as far as ops down to `depth` tell. (A sum is -0.0 only where
// both of its terms are.)
bool IsNeverMinusZero(const UOp* u, int depth) {
  const auto source = [&](size_t i) { return IsNeverMinusZero(u->src(i), depth - 1); };
  if (IsConstant(u)) {
    for (size_t i = 0; i < static_cast<size_t>(u->dtype.lanes()); ++i) {
      const double v = DoubleFromBits(u->dtype.scalar(), LaneBits(u, i));
      if (v == 0 && std::signbit(v)) return false;
    }
    return true;
  }
  switch (u->op) {
    case Op::kCast:
      return !u->src(0)->dtype.is_float();
    case Op::kExp2:
      return true;
    case Op::kMul:
      return u->src(0) == u->src(1);
    case Op::kAdd:
      return depth > 0 && (source(1) || source(0));
    case Op::kWhere:
      return depth > 0 && source(1) && source(2);
    default:
      return false;
  }
}

}  // namespace

const UOp* FoldAddOfZero(const UOp* u, rewrite::RuleContext& rc) {
  if (!u->dtype.is_float()) return nullptr;
  constexpr int kDepth = 4;
  const auto is_zero = [](const UOp* x) { return rewrite::UniformBits(x) == 0; };
  for (size_t i = 0; i < 2; ++i) {
    const UOp *x = u->src(i), *y = u->src(1 - i);
    if (is_zero(y) && IsNeverMinusZero(x, kDepth)) return x;
    if (x->op != Op::kAdd || !IsNeverMinusZero(y, kDepth) || is_zero(y)) continue;
    for (size_t k = 0; k < 2; ++k) {
      if (!is_zero(x->src(k))) continue;
      const UOp* rest = x->src(1 - k);
      return rc.ctx.Make(Op::kAdd, u->dtype, {i == 0 ? rest : y, i == 0 ? y : rest});
    }
  }
  return nullptr;
}

const UOp* FoldCompareOfCast(const UOp* u, rewrite::RuleContext& rc) {
  // Evaluates the comparison for both values of the bool.
  const bool left = u->src(0)->op == Op::kCast;
  const UOp* cast = u->src(left ? 0 : 1);
  const auto bits = rewrite::UniformBits(u->src(left ? 1 : 0));
  if (!bits || cast->op != Op::kCast || !cast->src(0)->dtype.is_bool()) return nullptr;
  const Scalar s = cast->dtype.scalar();
  bool at[2];
  for (int v = 0; v < 2; ++v) {
    int64_t args[2] = {CastBits(Scalar::kBool, s, v), *bits};
    if (!left) std::swap(args[0], args[1]);
    at[v] = *interpret::EvalAlu(u->op, s, args) != 0;
  }
  const UOp* p = cast->src(0);
  if (at[0] == at[1]) return rewrite::UniformConst(rc.ctx, u->dtype, at[0]);
  if (at[1]) return p;
  return rc.ctx.Make(Op::kCmpNe, u->dtype, {p, rewrite::UniformConst(rc.ctx, u->dtype, 1)});
}

}  // namespace tg::simplify
