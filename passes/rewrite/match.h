// Matches the left side of a rule against a node, and evaluates the rule's guard.
//
// For each commutative op in a pattern both orders of its operands are tried. Each such op is a
// choice, and a failed match is repeated with the last choice flipped that is not flipped yet, as
// in a depth-first search (ApplyPattern in rule_table.h). In canonical form, constants are the
// right operands of commutative ops, so a pattern with a constant as right operand is tried in one
// order only.
#ifndef TG_PASSES_REWRITE_MATCH_H_
#define TG_PASSES_REWRITE_MATCH_H_

#include <array>
#include <bit>
#include <cmath>

#include "ir/value.h"
#include "passes/rewrite/pattern.h"
#include "passes/rewrite/rule_context.h"

namespace tg::rewrite {

constexpr std::array<Domain, kNumScalars> kDomainOfScalar = [] {
  std::array<Domain, kNumScalars> d{};
  for (int i = 0; i < kNumScalars; ++i) {
    const auto s = static_cast<Scalar>(i);
    d[static_cast<size_t>(i)] = s == Scalar::kVoid                             ? Domain{0}
                                : s == Scalar::kBool                           ? pattern::B
                                : s == Scalar::kIndex                          ? pattern::Z
                                : s >= Scalar::kFp8E4M3                        ? pattern::F
                                : (i - static_cast<int>(Scalar::kI8)) % 2 == 0 ? pattern::S
                                                                               : pattern::U;
  }
  return d;
}();
static_assert(kDomainOfScalar[static_cast<int>(Scalar::kU64)] == pattern::U);
static_assert(kDomainOfScalar[static_cast<int>(Scalar::kI64)] == pattern::S);

inline Domain DomainOf(const DType& t) {
  return t.is_value() ? kDomainOfScalar[static_cast<size_t>(t.scalar())] : Domain{0};
}

// The values bound to a pattern's names.
struct Env {
  Domain domain;
  uint16_t bound = 0;    // which names: vars from bit 0 on, gates from bit 6, constants from bit 10
  uint8_t depth = 0;     // number of choices visited
  uint32_t choices = 0;  // bit i: swap the operands at choice i
  DType type;            // type of the domain's values; void: not yet known
  const UOp* var[4] = {};
  const UOp* gate[3] = {};
  int64_t cst[4] = {};

  // Whether `t` is the type of the domain's values. The first type that is in the domain becomes
  // it.
  bool Admit(const DType& t) {
    if (type == t) return true;
    if (!type.is_void() || !(DomainOf(t) & domain)) return false;
    type = t;
    return true;
  }
};

// Whether the operands of `u` may be exchanged. A float maximum or minimum depends on their order:
// max(-0.0, 0.0) is the first one.
inline bool MayCommute(const UOp* u) {
  return IsCommutative(u->op) && !((u->op == Op::kMax || u->op == Op::kMin) && u->dtype.is_float());
}

namespace pattern {

template <typename T>
inline constexpr bool kIsConstant = false;
template <>
inline constexpr bool kIsConstant<Cst> = true;
template <>
inline constexpr bool kIsConstant<Lit> = true;
template <>
inline constexpr bool kIsConstant<FloatLit> = true;
template <Op kOp, typename... A>
inline constexpr bool kIsConstant<Alu<kOp, A...>> = (kIsConstant<A> && ...);

constexpr bool CommutesByTable(Op op) {
  constexpr std::array<bool, kNumOps> kTable = {
#define TG_OP(name, text, srcs, attrs, rule, classes, stages, flags, doc) \
  std::string_view(flags).find('c') != std::string_view::npos,
#include "ir/ops.def"
  };
  return kTable[static_cast<size_t>(op)];
}

// ---- A quick check by the ops alone -------------------------------------------------------------
// Whether the ops of `u` and its sources can match pattern P, whatever names are bound. Most
// attempts fail here, where neither an Env nor the combinations of operand orders are needed.
template <typename P>
struct OpsOf {
  [[gnu::always_inline]] static bool Match(const UOp* u) {
    if constexpr (kIsConstant<P>) return u->op == Op::kConst || u->op == Op::kVConst;
    return true;
  }
};
template <Op kOp, typename A>
struct OpsOf<Alu<kOp, A>> {
  [[gnu::always_inline]] static bool Match(const UOp* u) {
    return u->op == kOp && OpsOf<A>::Match(u->src(0));
  }
};
template <Op kOp, typename A, typename B_>
struct OpsOf<Alu<kOp, A, B_>> {
  [[gnu::always_inline]] static bool Match(const UOp* u) {
    if (u->op != kOp) return false;
    if (OpsOf<A>::Match(u->src(0)) && OpsOf<B_>::Match(u->src(1))) return true;
    if constexpr (CommutesByTable(kOp) && !kIsConstant<B_>) {
      return OpsOf<A>::Match(u->src(1)) && OpsOf<B_>::Match(u->src(0));
    }
    return false;
  }
};
template <Op kOp, typename P, typename A, typename B_>
struct OpsOf<Alu<kOp, P, A, B_>> {
  [[gnu::always_inline]] static bool Match(const UOp* u) {
    return u->op == kOp && OpsOf<P>::Match(u->src(0)) && OpsOf<A>::Match(u->src(1)) &&
           OpsOf<B_>::Match(u->src(2));
  }
};

// ---- Matching. kAs: the type that the context requires ------------------------------------------
template <Type kAs>
inline bool Match(const Var& v, const UOp* u, Env& e) {
  const uint16_t bit = static_cast<uint16_t>(1u << v.i);
  if (e.bound & bit) return e.var[v.i] == u;
  if (!e.Admit(u->dtype)) return false;
  e.bound |= bit;
  e.var[v.i] = u;
  return true;
}
template <Type kAs>
inline bool Match(const Gate& v, const UOp* u, Env& e) {
  const uint16_t bit = static_cast<uint16_t>(64u << v.i);
  if (e.bound & bit) return e.gate[v.i] == u;
  if (!u->dtype.is_bool()) return false;
  e.bound |= bit;
  e.gate[v.i] = u;
  return true;
}
template <Type kAs>
inline bool Match(const Cst& c, const UOp* u, Env& e) {
  if (u->op != Op::kConst && u->op != Op::kVConst) return false;
  const auto bits = UniformBits(u);
  if (!bits) return false;
  const uint16_t bit = static_cast<uint16_t>(1024u << c.i);
  if (e.bound & bit) return e.cst[c.i] == *bits && e.type == u->dtype;
  if (!e.Admit(u->dtype)) return false;
  e.bound |= bit;
  e.cst[c.i] = *bits;
  return true;
}
template <Type kAs>
inline bool Match(const Lit& l, const UOp* u, Env& e) {
  if (u->op != Op::kConst && u->op != Op::kVConst) return false;
  const auto bits = UniformBits(u);
  if (!bits || *bits != BitsFromInt(u->dtype.scalar(), l.v)) return false;
  return kAs == Type::kBool ? u->dtype.is_bool() : e.Admit(u->dtype);
}
template <Type kAs>
inline bool Match(const FloatLit& l, const UOp* u, Env& e) {
  if (u->op != Op::kConst && u->op != Op::kVConst) return false;
  const auto bits = UniformBits(u);
  if (!bits || !u->dtype.is_float()) return false;
  const double v = DoubleFromBits(u->dtype.scalar(), *bits);
  return v == l.v && std::signbit(v) == std::signbit(l.v) && e.Admit(u->dtype);
}
template <Type kAs, Op kOp, typename... A>
bool Match(const Alu<kOp, A...>& t, const UOp* u, Env& e) {
  if (u->op != kOp) return false;
  constexpr Type kIn = Alu<kOp, A...>::kOperand;
  if constexpr (sizeof...(A) == 1) {
    return Match<kIn>(t.a, u->src(0), e);
  } else if constexpr (sizeof...(A) == 3) {
    if constexpr (kOp == Op::kWhere) {
      return Match<Type::kBool>(t.p, u->src(0), e) && Match<kIn>(t.a, u->src(1), e) &&
             Match<kIn>(t.b, u->src(2), e);
    } else {
      return Match<kIn>(t.p, u->src(0), e) && Match<kIn>(t.a, u->src(1), e) &&
             Match<kIn>(t.b, u->src(2), e);
    }
  } else {
    using Right = std::remove_cvref_t<decltype(t.b)>;
    if constexpr (CommutesByTable(kOp) && !kIsConstant<Right>) {
      if (MayCommute(u)) {
        const bool turned = e.choices >> e.depth++ & 1;
        return Match<kIn>(t.a, u->src(turned), e) && Match<kIn>(t.b, u->src(!turned), e);
      }
    }
    return Match<kIn>(t.a, u->src(0), e) && Match<kIn>(t.b, u->src(1), e);
  }
}

// ---- Guards -------------------------------------------------------------------------------------
enum class Tri : uint8_t { kFalse, kTrue, kUnknown };
constexpr Tri Known(bool b) { return b ? Tri::kTrue : Tri::kFalse; }

// The interval of a pattern's value, computed without wrapping.
inline analysis::Interval RangeOf(const Var& v, const Env& e, RuleContext& rc) {
  return rc.bounds.Of(e.var[v.i]);
}
inline analysis::Interval RangeOf(const Cst& c, const Env& e, RuleContext&) {
  const Scalar s = e.type.scalar();
  return IsFloat(s) ? analysis::Interval{} : analysis::ConstInterval(s, e.cst[c.i]);
}
inline analysis::Interval RangeOf(const Lit& l, const Env&, RuleContext&) {
  return analysis::Interval::Point(l.v);
}
template <Op kOp, typename A>
analysis::Interval RangeOf(const Alu<kOp, A>& t, const Env& e, RuleContext& rc) {
  const analysis::Interval args[1] = {RangeOf(t.a, e, rc)};
  return analysis::AluInterval(kOp, Scalar::kIndex, args);
}
template <Op kOp, typename A, typename B_>
analysis::Interval RangeOf(const Alu<kOp, A, B_>& t, const Env& e, RuleContext& rc) {
  const analysis::Interval args[2] = {RangeOf(t.a, e, rc), RangeOf(t.b, e, rc)};
  return analysis::AluInterval(kOp, Scalar::kIndex, args);
}

// Whether bounds prove that no intermediate value of the pattern overflows the type of the domain's
// values.
template <typename T>
bool Fits(const T& t, const Env& e, RuleContext& rc) {
  if constexpr (requires { T::kOp; }) {
    const analysis::Interval full = analysis::FullInterval(e.type.scalar());
    const analysis::Interval v = RangeOf(t, e, rc);
    if (v.lo < full.lo || v.hi > full.hi) return false;
    if (e.type.scalar() == Scalar::kI64 && !(v.HasLo() && v.HasHi())) return false;
    if (e.type.scalar() == Scalar::kU64 && !v.HasHi()) return false;
    if constexpr (requires { t.b; }) {
      return Fits(t.a, e, rc) && Fits(t.b, e, rc);
    } else {
      return Fits(t.a, e, rc);
    }
  } else {
    return true;
  }
}

// Whether the module's flags alone make a guard false.
template <typename G>
bool NeverHolds(const G&, ModuleFlags) {
  return false;
}
inline bool NeverHolds(const FlagNode& f, ModuleFlags flags) { return !flags.has(f.flag); }
template <typename A, typename B_>
bool NeverHolds(const AndAlso<A, B_>& t, ModuleFlags flags) {
  return NeverHolds(t.a, flags) || NeverHolds(t.b, flags);
}
template <typename A, typename B_>
bool NeverHolds(const OrElse<A, B_>& t, ModuleFlags flags) {
  return NeverHolds(t.a, flags) && NeverHolds(t.b, flags);
}

inline Tri Holds(const Always&, const Env&, RuleContext&) { return Tri::kTrue; }
inline Tri Holds(const WideNode&, const Env& e, RuleContext&) {
  return Known(BitWidth(e.type.scalar()) >= 32);
}
inline Tri Holds(const FlagNode& f, const Env&, RuleContext& rc) {
  return Known(rc.flags.has(f.flag));
}
template <typename A>
Tri Holds(const NoWrapNode<A>& t, const Env& e, RuleContext& rc) {
  return Known(Fits(t.a, e, rc));
}
inline Tri Holds(const PowerOfTwoNode& t, const Env& e, RuleContext&) {
  const Scalar s = e.type.scalar();
  if (!IsFloat(s)) return Tri::kFalse;
  const double v = DoubleFromBits(s, e.cst[t.a.i]);
  // The mantissa is 0 and the reciprocal is exact. The last condition excludes a reciprocal that is
  // subnormal, or so close to it that dividing it by 2^14 is inexact.
  return Known(v > 0 && BitsFromDouble(s, 1 / v) != BitsFromDouble(s, 0) &&
               (std::bit_cast<uint64_t>(v) & ((uint64_t{1} << 52) - 1)) == 0 &&
               DoubleFromBits(s, BitsFromDouble(s, 1 / v)) * v == 1 &&
               DoubleFromBits(s, BitsFromDouble(s, 1 / v / 16384)) * 16384 * v == 1);
}
inline Tri Holds(const NotConstantNode& t, const Env& e, RuleContext&) {
  const Op op = e.var[t.a.i]->op;
  return Known(op != Op::kConst && op != Op::kVConst);
}
template <typename A, typename B_>
Tri Holds(const Alu<Op::kCmpLt, A, B_>& t, const Env& e, RuleContext& rc) {
  const analysis::Interval a = RangeOf(t.a, e, rc), b = RangeOf(t.b, e, rc);
  if (a.HasHi() && b.HasLo() && a.hi < b.lo) return Tri::kTrue;
  if (a.HasLo() && b.HasHi() && a.lo >= b.hi) return Tri::kFalse;
  return Tri::kUnknown;
}
template <typename A, typename B_>
Tri Holds(const Alu<Op::kCmpNe, A, B_>& t, const Env& e, RuleContext& rc) {
  if constexpr (IsCompare(Op::kCmpNe) && A::kType == Type::kBool) {  // !p
    const Tri v = Holds(t.a, e, rc);
    return v == Tri::kUnknown ? v : Known(v == Tri::kFalse);
  } else {
    const analysis::Interval a = RangeOf(t.a, e, rc), b = RangeOf(t.b, e, rc);
    if ((a.HasHi() && b.HasLo() && a.hi < b.lo) || (b.HasHi() && a.HasLo() && b.hi < a.lo)) {
      return Tri::kTrue;
    }
    return a.IsPoint() && a == b ? Tri::kFalse : Tri::kUnknown;
  }
}
template <typename A, typename B_>
Tri Holds(const AndAlso<A, B_>& t, const Env& e, RuleContext& rc) {
  const Tri a = Holds(t.a, e, rc);
  if (a == Tri::kFalse) return a;
  const Tri b = Holds(t.b, e, rc);
  return b == Tri::kTrue ? a : b;
}
template <typename A, typename B_>
Tri Holds(const OrElse<A, B_>& t, const Env& e, RuleContext& rc) {
  const Tri a = Holds(t.a, e, rc);
  if (a == Tri::kTrue) return a;
  const Tri b = Holds(t.b, e, rc);
  return b == Tri::kFalse ? a : b;
}

}  // namespace pattern
}  // namespace tg::rewrite

#endif  // TG_PASSES_REWRITE_MATCH_H_
