// Evaluates a pattern in a domain D (see prove_semantics.h), and a guard over integers that do not
// wrap.
#ifndef TG_PASSES_REWRITE_PROVE_EVAL_H_
#define TG_PASSES_REWRITE_PROVE_EVAL_H_

#include <optional>
#include <vector>

#include "passes/rewrite/prove_semantics.h"
#include "passes/rewrite/rule_info.h"

namespace tg::prove {

// The values of the names of a rule. In rules on bools (domain B) the vars are bools.
template <typename D>
struct Names {
  std::vector<typename D::Value> vars, constants;
  std::vector<typename D::Bool> bool_vars, gates;
};

// Whether the tree's value is a bool. `domain_is_bool`: the rule is evaluated in domain B.
// `place_is_bool`: the context requires a bool, which gives a literal its type.
inline bool IsBool(const rewrite::PatternTree& t, bool domain_is_bool, bool place_is_bool) {
  if (t.type == rewrite::pattern::Type::kLiteral) return place_is_bool;
  return t.type == rewrite::pattern::Type::kBool || domain_is_bool;
}
// Whether the operands of the tree are bools.
inline bool OperandIsBool(const rewrite::PatternTree& t, bool domain_is_bool, bool place_is_bool) {
  if (t.operand == rewrite::pattern::Type::kLiteral) return place_is_bool;
  return t.operand == rewrite::pattern::Type::kBool || domain_is_bool;
}

template <typename D>
typename D::Bool EvalBool(const rewrite::PatternTree& t, D& d, const Names<D>& names,
                          bool domain_is_bool);

template <typename D>
typename D::Value EvalValue(const rewrite::PatternTree& t, D& d, const Names<D>& names) {
  using Kind = rewrite::PatternTree::Kind;
  switch (t.kind) {
    case Kind::kVar:
      return names.vars[static_cast<size_t>(t.value)];
    case Kind::kConstant:
      return names.constants[static_cast<size_t>(t.value)];
    case Kind::kLiteral:
      return d.Lit(t.value);
    default:
      break;
  }
  TG_CHECK(t.kind == Kind::kAlu);
  const auto arg = [&](size_t i) { return EvalValue(t.kids[i], d, names); };
  if (t.op == Op::kWhere) return d.Ite(EvalBool(t.kids[0], d, names, false), arg(1), arg(2));
  if (t.op == Op::kMulAcc) return d.Add(d.Mul(arg(0), arg(1)), arg(2));
  const auto a = arg(0);
  return Arithmetic(d, t.op, a, t.kids.size() > 1 ? arg(1) : a);
}

template <typename D>
typename D::Bool EvalBool(const rewrite::PatternTree& t, D& d, const Names<D>& names,
                          bool domain_is_bool) {
  using Kind = rewrite::PatternTree::Kind;
  switch (t.kind) {
    case Kind::kVar:
      return names.bool_vars[static_cast<size_t>(t.value)];
    case Kind::kGate:
      return names.gates[static_cast<size_t>(t.value)];
    case Kind::kLiteral:
      return d.Truth(t.value != 0);
    default:
      break;
  }
  TG_CHECK(t.kind == Kind::kAlu);
  const auto arg = [&](size_t i) { return EvalBool(t.kids[i], d, names, domain_is_bool); };
  if (t.op == Op::kWhere) {
    const auto p = arg(0);
    return d.Either(d.Both(p, arg(1)), d.Both(d.Not(p), arg(2)));
  }
  if (rewrite::pattern::IsCompare(t.op) && !OperandIsBool(t, domain_is_bool, false)) {
    const auto a = EvalValue(t.kids[0], d, names), b = EvalValue(t.kids[1], d, names);
    return t.op == Op::kCmpLt ? d.Lt(a, b) : d.Not(d.Eq(a, b));
  }
  return Logic(d, t.op, arg(0), arg(1));
}

// Whether all intermediate values of `t` are in lo..hi. D is a domain of integers that do not wrap.
template <typename D>
typename D::Bool StaysWithin(const rewrite::PatternTree& t, D& d, const Names<D>& names,
                             const typename D::Value& lo, const typename D::Value& hi) {
  if (t.kind != rewrite::PatternTree::Kind::kAlu) return d.Truth(true);
  const auto v = EvalValue(t, d, names);
  auto ok = d.Both(d.Not(d.Lt(v, lo)), d.Not(d.Lt(hi, v)));
  for (const rewrite::PatternTree& kid : t.kids)
    ok = d.Both(ok, StaysWithin(kid, d, names, lo, hi));
  return ok;
}

// Whether the guard holds, in a domain of integers that do not wrap. `range`: the least and
// greatest value of the rule's type, for NoWrap; nullopt for indices, which do not wrap.
// NotConstant holds.
template <typename D>
typename D::Bool EvalGuard(
    const rewrite::PatternTree& t, D& d, const Names<D>& names,
    const std::optional<std::pair<typename D::Value, typename D::Value>>& range) {
  using Kind = rewrite::PatternTree::Kind;
  const auto kid = [&](size_t i) { return EvalGuard(t.kids[i], d, names, range); };
  switch (t.kind) {
    case Kind::kAlways:
      return d.Truth(true);
    case Kind::kAndAlso:
      return d.Both(kid(0), kid(1));
    case Kind::kOrElse:
      return d.Either(kid(0), kid(1));
    case Kind::kNotConstant:
      return d.Truth(true);
    case Kind::kNoWrap:
      return range ? StaysWithin(t.kids[0], d, names, range->first, range->second) : d.Truth(true);
    default:
      return EvalBool(t, d, names, false);
  }
}

}  // namespace tg::prove

#endif  // TG_PASSES_REWRITE_PROVE_EVAL_H_
