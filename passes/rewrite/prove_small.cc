#include "passes/rewrite/prove_small.h"

#include <vector>

#include "absl/strings/str_cat.h"
#include "passes/rewrite/prove.h"
#include "passes/rewrite/prove_eval.h"

namespace tg::prove {
namespace {

// Integers of `bits` bits that wrap. With 64 bits nothing wraps for the small values that are
// checked, so that this represents the unbounded integers.
struct SmallDomain {
  using Value = int64_t;
  using Bool = bool;
  int bits = 64;
  bool is_signed = true;

  int64_t Wrap(int64_t v) const {
    if (bits == 64) return v;
    const int shift = 64 - bits;
    const auto u = static_cast<uint64_t>(v) << shift;
    return is_signed ? static_cast<int64_t>(u) >> shift : static_cast<int64_t>(u >> shift);
  }
  int64_t Lo() const { return is_signed ? -(int64_t{1} << (bits - 1)) : 0; }
  int64_t Hi() const { return (int64_t{1} << (is_signed ? bits - 1 : bits)) - 1; }

  int64_t Lit(int64_t v) const { return Wrap(v); }
  int64_t Add(int64_t a, int64_t b) const { return Wrap(a + b); }
  int64_t Sub(int64_t a, int64_t b) const { return Wrap(a - b); }
  int64_t Mul(int64_t a, int64_t b) const { return Wrap(a * b); }
  // Ite evaluates both branches, so that a divisor may be 0 here although the result is not used.
  int64_t TruncDiv(int64_t a, int64_t b) const { return b == 0 ? 0 : Wrap(a / b); }
  int64_t FloorDiv(int64_t a, int64_t b) const {
    if (b == 0) return 0;
    return Wrap(a / b - (a % b != 0 && (a < 0) != (b < 0)));
  }
  bool Lt(int64_t a, int64_t b) const { return a < b; }
  bool Eq(int64_t a, int64_t b) const { return a == b; }
  int64_t Ite(bool p, int64_t a, int64_t b) const { return p ? a : b; }
  int64_t And(int64_t a, int64_t b) const { return a & b; }
  int64_t Or(int64_t a, int64_t b) const { return a | b; }
  int64_t Xor(int64_t a, int64_t b) const { return a ^ b; }
  int64_t Shl(int64_t a, int64_t b) const { return b < 0 || b >= bits ? 0 : Wrap(a << b); }
  int64_t Shr(int64_t a, int64_t b) const { return b < 0 || b >= bits ? (a < 0 ? -1 : 0) : a >> b; }
  bool Not(bool a) const { return !a; }
  bool Both(bool a, bool b) const { return a && b; }
  bool Either(bool a, bool b) const { return a || b; }
  bool Truth(bool a) const { return a; }
};

std::string Describe(const Names<SmallDomain>& names) {
  std::string s;
  for (size_t i = 0; i < names.vars.size(); ++i) {
    absl::StrAppend(&s, std::string(1, "xyzw"[i]), " = ", names.vars[i], "; ");
  }
  for (size_t i = 0; i < names.bool_vars.size(); ++i) {
    absl::StrAppend(&s, std::string(1, "xyzw"[i]), " = ", int{names.bool_vars[i]}, "; ");
  }
  for (size_t i = 0; i < names.constants.size(); ++i) {
    absl::StrAppend(&s, "c", i, " = ", names.constants[i], "; ");
  }
  for (size_t i = 0; i < names.gates.size(); ++i) {
    absl::StrAppend(&s, std::string(1, "pqr"[i]), " = ", int{names.gates[i]}, "; ");
  }
  return s;
}

// Advances to the next combination of values of the names, like an odometer: gates change fastest,
// then bools, vars and constants. False after the last combination.
bool Next(Names<SmallDomain>& names, int64_t lo, int64_t hi) {
  for (size_t i = 0; i < names.gates.size(); ++i) {
    if (!names.gates[i]) return names.gates[i] = true;
    names.gates[i] = false;
  }
  for (size_t i = 0; i < names.bool_vars.size(); ++i) {
    if (!names.bool_vars[i]) return names.bool_vars[i] = true;
    names.bool_vars[i] = false;
  }
  for (auto* list : {&names.vars, &names.constants}) {
    for (int64_t& v : *list) {
      if (v < hi) {
        ++v;
        return true;
      }
      v = lo;
    }
  }
  return false;
}

std::string Search(const rewrite::RuleInfo& rule, SmallDomain d, bool domain_is_bool, int64_t lo,
                   int64_t hi, bool has_range) {
  const NameCounts counts = CountNames(rule);
  Names<SmallDomain> names;
  names.vars.assign(domain_is_bool ? 0 : counts.vars, lo);
  names.constants.assign(counts.constants, lo);
  names.bool_vars.assign(domain_is_bool ? counts.vars : 0, false);
  names.gates.assign(counts.gates, false);
  SmallDomain integers;
  std::optional<std::pair<int64_t, int64_t>> range;
  if (has_range) range.emplace(d.Lo(), d.Hi());
  const bool result_is_bool = IsBool(rule.lhs, domain_is_bool, domain_is_bool);
  do {
    if (!EvalGuard(rule.guard, integers, names, range)) continue;
    const bool same = result_is_bool
                          ? EvalBool(rule.lhs, d, names, domain_is_bool) ==
                                EvalBool(rule.rhs, d, names, domain_is_bool)
                          : EvalValue(rule.lhs, d, names) == EvalValue(rule.rhs, d, names);
    if (!same) return Describe(names);
  } while (Next(names, lo, hi));
  return "";
}

// Whether the tree contains neither a var nor a gate.
bool OnlyConstants(const rewrite::PatternTree& t) {
  if (t.kind == rewrite::PatternTree::Kind::kVar || t.kind == rewrite::PatternTree::Kind::kGate)
    return false;
  for (const rewrite::PatternTree& kid : t.kids) {
    if (!OnlyConstants(kid)) return false;
  }
  return true;
}

bool MayHold(const rewrite::PatternTree& t, SmallDomain& d, const Names<SmallDomain>& names) {
  using Kind = rewrite::PatternTree::Kind;
  if (t.kind == Kind::kAndAlso) {
    return MayHold(t.kids[0], d, names) && MayHold(t.kids[1], d, names);
  }
  if (t.kind == Kind::kOrElse) {
    return MayHold(t.kids[0], d, names) || MayHold(t.kids[1], d, names);
  }
  return !OnlyConstants(t) || EvalGuard(t, d, names, {});
}

}  // namespace

std::string FindCounterexample(const rewrite::RuleInfo& rule, rewrite::Domain domain, int bits) {
  SmallDomain d;
  d.bits = bits;
  d.is_signed = domain != rewrite::pattern::U;
  return Search(rule, d, domain == rewrite::pattern::B, d.Lo(), d.Hi(), true);
}

std::string FindSmallIntegerCounterexample(const rewrite::RuleInfo& rule, int64_t lo, int64_t hi) {
  return Search(rule, SmallDomain{}, false, lo, hi, false);
}

bool GuardMayHold(const rewrite::RuleInfo& rule, const std::vector<int64_t>& constants) {
  SmallDomain d;
  Names<SmallDomain> names;
  names.constants = constants;
  return MayHold(rule.guard, d, names);
}

}  // namespace tg::prove
