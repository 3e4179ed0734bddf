// The language of the derivatives of rules.h: patterns of passes/rewrite/pattern.h.
//
//   gradient(x * y, dy * y, dy * x)
//
// says that where `x * y` has the gradient `dy`, x gets `dy * y` and y gets `dy * x`. The left side
// is an op on names: x, y and z are any sources, p a bool, c0 a constant. On the right, `out` is
// the node itself, `none` a derivative that is 0 everywhere, and `greatest` the greatest finite
// number. Of several rows for an
// op, the first one that matches applies.
#ifndef TG_PASSES_GRADIENT_RULE_H_
#define TG_PASSES_GRADIENT_RULE_H_

#include <array>
#include <cmath>
#include <cstddef>
#include <tuple>
#include <type_traits>
#include <utility>

#include "ir/builder.h"
#include "ir/float_format.h"
#include "ir/uop.h"
#include "passes/gradient/adjoint.h"
#include "passes/rewrite/pattern.h"

namespace tg::gradient {

namespace pattern {
using namespace rewrite::pattern;  // NOLINT: rules should read like algebra

inline constexpr Var dy{4}, out{5};
struct None : Node {
  static constexpr Type kType = Type::kDomain;
};
inline constexpr None none;
// The greatest finite number of the type.
struct Greatest : Node {
  static constexpr Type kType = Type::kDomain;
};
inline constexpr Greatest greatest;

template <typename A>
constexpr auto Sin(A a) {
  return Make<Op::kSin>(a);
}
template <typename A>
constexpr auto Trunc(A a) {
  return Make<Op::kTrunc>(a);
}
}  // namespace pattern

// The node of each name of a rule.
struct Bindings {
  Builder& b;
  DType type;
  std::array<const UOp*, 6> var = {};
  std::array<const UOp*, 3> gate = {};
  std::array<const UOp*, 4> constant = {};
};

// The constant whose value every element of `u` has, or null.
inline const UOp* UniformConstant(const UOp* u) {
  while (u->op == Op::kReshape || u->op == Op::kExpand || u->op == Op::kBroadcast) u = u->src(0);
  return IsConst(u) ? u : nullptr;
}

inline bool Bind(const pattern::Var& v, const UOp* u, Bindings& names) {
  names.var[v.i] = u;
  return true;
}
inline bool Bind(const pattern::Gate& v, const UOp* u, Bindings& names) {
  names.gate[v.i] = u;
  return true;
}
inline bool Bind(const pattern::Cst& v, const UOp* u, Bindings& names) {
  names.constant[v.i] = UniformConstant(u);
  return names.constant[v.i] != nullptr;
}

template <pattern::Type kAs>
const UOp* Build(const pattern::Var& v, Bindings& names) {
  return names.var[v.i];
}
template <pattern::Type kAs>
const UOp* Build(const pattern::Gate& v, Bindings& names) {
  return names.gate[v.i];
}
template <pattern::Type kAs>
const UOp* Build(const pattern::Cst& v, Bindings& names) {
  return names.constant[v.i];
}
template <pattern::Type kAs>
const UOp* Build(const pattern::Lit& v, Bindings& names) {
  return kAs == pattern::Type::kBool ? names.b.Bool(v.v != 0)
                                     : names.b.Const(names.type, static_cast<double>(v.v));
}
template <pattern::Type kAs>
const UOp* Build(const pattern::FloatLit& v, Bindings& names) {
  return names.b.Const(names.type, v.v);
}
template <pattern::Type kAs>
const UOp* Build(const pattern::None&, Bindings&) {
  return nullptr;
}
template <pattern::Type kAs>
const UOp* Build(const pattern::Greatest&, Bindings& names) {
  const FloatFormat f = FormatOf(names.type.scalar());
  const double unit = std::ldexp(1, -f.mantissa_bits);
  return names.b.Const(names.type, std::ldexp(f.has_inf ? 2 - unit : 2 - 2 * unit,
                                              f.has_inf ? f.bias() : f.bias() + 1));
}
template <pattern::Type kAs, Op kOp, typename... A>
const UOp* Build(const pattern::Alu<kOp, A...>& t, Bindings& names) {
  constexpr pattern::Type kIn = pattern::Alu<kOp, A...>::kOperand;
  if constexpr (sizeof...(A) == 1) {
    return names.b.Alu(kOp, {Build<kIn>(t.a, names)});
  } else if constexpr (sizeof...(A) == 2) {
    const UOp* a = Build<kIn>(t.a, names);
    return names.b.Alu(kOp, {a, Build<kIn>(t.b, names)});
  } else {
    const UOp* g = Build < kOp == Op::kWhere ? pattern::Type::kBool : kIn > (t.p, names);
    const UOp* a = Build<kIn>(t.a, names);
    return names.b.Alu(kOp, {g, a, Build<kIn>(t.b, names)});
  }
}

template <typename L, typename... D>
struct PatternRule {
  static constexpr Op kOp = L::kOp;
  L left;
  std::tuple<D...> derivatives;  // by source

  bool Matches(const UOp* u, Bindings& names) const {
    if constexpr (requires { left.p; }) {
      return Bind(left.p, u->src(0), names) && Bind(left.a, u->src(1), names) &&
             Bind(left.b, u->src(2), names);
    } else if constexpr (requires { left.b; }) {
      return Bind(left.a, u->src(0), names) && Bind(left.b, u->src(1), names);
    } else {
      return Bind(left.a, u->src(0), names);
    }
  }
  const UOp* Derivative(size_t source, Bindings& names) const {
    const UOp* result = nullptr;
    size_t i = 0;
    std::apply(
        [&](const auto&... d) {
          ((i++ == source ? void(result = Build<pattern::Type::kDomain>(d, names)) : void()), ...);
        },
        derivatives);
    return result;
  }
};

// A derivative that no pattern can express.
struct FunctionRule {
  Op op;
  DerivativeFn fn;
};
// No derivative, for this reason.
struct RefusedRule {
  Op op;
  const char* reason;
};

template <rewrite::pattern::Pattern L, typename... D>
consteval auto gradient(L left, D... derivatives) {
  using pattern::Lift;
  return PatternRule<L, decltype(Lift(derivatives))...>{left, {Lift(derivatives)...}};
}
consteval FunctionRule gradient(Op op, DerivativeFn fn) { return {op, fn}; }
consteval RefusedRule refused(Op op, const char* reason) { return {op, reason}; }

}  // namespace tg::gradient

#endif  // TG_PASSES_GRADIENT_RULE_H_
