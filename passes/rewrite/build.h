// Builds the node that the right side of a rule describes. Arithmetic on constants is folded.
#ifndef TG_PASSES_REWRITE_BUILD_H_
#define TG_PASSES_REWRITE_BUILD_H_

#include <span>

#include "ir/interpret/scalar.h"
#include "passes/rewrite/match.h"

namespace tg::rewrite {

// The constant of type `t` that has `bits` in every lane.
const UOp* UniformConst(Context& ctx, DType t, int64_t bits);

namespace pattern {

template <Type kAs>
Scalar ScalarFor(const Env& e) {
  return kAs == Type::kBool ? Scalar::kBool : e.type.scalar();
}

// Whether `result`, a float computed from constants, is the exact result up to rounding: finite
// operands give a finite result, and a product or quotient of numbers other than 0 is not below the
// normal numbers. Otherwise (x * 1e30) * 1e30 would become an infinity for every x.
bool IsRepresentable(Op op, Scalar s, std::span<const int64_t> args, int64_t result);

// The value of a pattern that has only constants, in its type; nullopt if an index overflows, or if
// a float op of two constants overflows or underflows.
template <Type kAs>
std::optional<int64_t> Fold(const Cst& c, const Env& e) {
  return e.cst[c.i];
}
template <Type kAs>
std::optional<int64_t> Fold(const Lit& l, const Env& e) {
  return BitsFromInt(ScalarFor<kAs>(e), l.v);
}
template <Type kAs>
std::optional<int64_t> Fold(const FloatLit& l, const Env& e) {
  return BitsFromDouble(e.type.scalar(), l.v);
}
template <Type kAs, Op kOp, typename... A>
std::optional<int64_t> Fold(const Alu<kOp, A...>& t, const Env& e) {
  constexpr Type kIn = Alu<kOp, A...>::kOperand;
  const Scalar s = ScalarFor<kIn>(e);
  if constexpr (sizeof...(A) == 1) {
    const auto a = Fold<kIn>(t.a, e);
    if (!a) return a;
    const int64_t args[1] = {*a};
    return interpret::EvalAlu(kOp, s, args);
  } else if constexpr (sizeof...(A) == 2) {
    const auto a = Fold<kIn>(t.a, e), b = Fold<kIn>(t.b, e);
    if (!a || !b) return std::nullopt;
    const int64_t args[2] = {*a, *b};
    const auto result = interpret::EvalAlu(kOp, s, args);
    if (result && IsFloat(s) && !IsRepresentable(kOp, s, args, *result)) return std::nullopt;
    return result;
  } else {
    static_assert(sizeof...(A) < 3, "a `where` of constants alone");
  }
}

// The node that a pattern describes for the bound names of `e`, with `lanes` lanes. Null if Fold
// has no value for a part of it.
template <Type kAs>
const UOp* Build(const Var& v, RuleContext&, const Env& e, int) {
  return e.var[v.i];
}
template <Type kAs>
const UOp* Build(const Gate& v, RuleContext&, const Env& e, int) {
  return e.gate[v.i];
}
template <Type kAs, typename T>
requires kIsConstant<T>
const UOp* Build(const T& t, RuleContext& rc, const Env& e, int lanes) {
  const auto bits = Fold<kAs>(t, e);
  return bits ? UniformConst(rc.ctx, DType(ScalarFor<kAs>(e), lanes), *bits) : nullptr;
}
template <Type kAs, Op kOp, typename... A>
requires(!kIsConstant<Alu<kOp, A...>>) const UOp* Build(const Alu<kOp, A...>& t, RuleContext& rc,
                                                        const Env& e, int lanes) {
  constexpr Type kIn = Alu<kOp, A...>::kOperand;
  const DType type(ScalarFor<Join(Alu<kOp, A...>::kType, kAs)>(e), lanes);
  if constexpr (sizeof...(A) == 1) {
    const UOp* a = Build<kIn>(t.a, rc, e, lanes);
    return a ? rc.ctx.Make(kOp, type, {a}) : nullptr;
  } else if constexpr (sizeof...(A) == 2) {
    const UOp* a = Build<kIn>(t.a, rc, e, lanes);
    const UOp* b = Build<kIn>(t.b, rc, e, lanes);
    return a && b ? rc.ctx.Make(kOp, type, {a, b}) : nullptr;
  } else {
    const UOp* g = Build < kOp == Op::kWhere ? Type::kBool : kIn > (t.p, rc, e, lanes);
    const UOp* a = Build<kIn>(t.a, rc, e, lanes);
    const UOp* b = Build<kIn>(t.b, rc, e, lanes);
    return g && a && b ? rc.ctx.Make(kOp, type, {g, a, b}) : nullptr;
  }
}

}  // namespace pattern
}  // namespace tg::rewrite

#endif  // TG_PASSES_REWRITE_BUILD_H_
