#include "passes/simplify/assume.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "passes/analysis/affine.h"
#include "passes/rewrite/build.h"
#include "passes/rewrite/engine.h"
#include "passes/simplify/affine_sums.h"
#include "passes/simplify/div_mod.h"
#include "passes/simplify/polynomial.h"
#include "passes/simplify/value_nodes.h"

namespace tg::simplify {

const UOp* Negated(const UOp* u) {
  return u->op == Op::kCmpNe && u->dtype.is_bool() && u->src(0)->dtype.is_bool() &&
                 rewrite::UniformBits(u->src(1)) == 1
             ? u->src(0)
             : nullptr;
}

namespace {

// A clause as a bound: `of` lies within `range` wherever the clause holds. `of` is null for a
// clause that is not the comparison of an integer or index with a constant.
struct Bound {
  const UOp* of = nullptr;
  analysis::Interval range;
};

Bound AsBound(const UOp* clause) {
  const UOp* positive = Negated(clause);
  const UOp* u = positive ? positive : clause;
  if (u->op != Op::kCmpLt && !(positive && u->op == Op::kCmpNe)) return {};
  const UOp *a = u->src(0), *b = u->src(1);
  if (!a->dtype.is_int_or_index()) return {};
  const auto constant = [](const UOp* v) -> std::optional<int64_t> {
    const auto bits = rewrite::UniformBits(v);
    if (!bits || (v->dtype.scalar() == Scalar::kU64 && *bits < 0)) return std::nullopt;
    if (*bits == INT64_MIN || *bits == INT64_MAX) return std::nullopt;
    return bits;
  };
  const auto ca = constant(a), cb = constant(b);
  if (u->op == Op::kCmpNe) {  // a == c
    if (cb && !ca) return {a, analysis::Interval::Point(*cb)};
    return {};
  }
  if (cb && !ca)
    return {a,
            positive ? analysis::Interval{*cb, INT64_MAX} : analysis::Interval{INT64_MIN, *cb - 1}};
  if (ca && !cb)
    return {b,
            positive ? analysis::Interval{INT64_MIN, *ca} : analysis::Interval{*ca + 1, INT64_MAX}};
  return {};
}

bool IsLinear(const UOp* u) {
  return !IsArithmetic(u) || IsConst(u) || u->op == Op::kVConst || u->op == Op::kAdd ||
         u->op == Op::kSub || u->op == Op::kMul || u->op == Op::kNeg;
}

// What is at least 0 where the clause, a comparison of indices, holds. nullopt for other clauses.
std::optional<Polynomial> AsFact(const UOp* clause) {
  const UOp* positive = Negated(clause);
  const UOp* u = positive ? positive : clause;
  if (u->op != Op::kCmpLt || u->src(0)->dtype != kIndex) return std::nullopt;
  const auto a = Polynomial::Of(u->src(0)), b = Polynomial::Of(u->src(1));
  if (!a || !b) return std::nullopt;
  if (positive) return a->Plus(*b, -1);
  const std::optional<Polynomial> least = a->Plus(Polynomial::Constant(1), 1);
  return least ? b->Plus(*least, -1) : std::nullopt;
}

bool IsDivision(Op op) {
  return op == Op::kFloorDiv || op == Op::kFloorMod || op == Op::kCDiv || op == Op::kCMod;
}

// The cost of the operations: a division that is not a shift costs as much as several others, and
// constants are free.
int Cost(const NodeList& nodes) {
  constexpr int kDivision = 8;
  int cost = 0;
  for (const UOp* u : nodes) {
    switch (u->op) {
      case Op::kConst:
      case Op::kVConst:
        break;
      case Op::kFloorDiv:
      case Op::kFloorMod: {
        const auto by = rewrite::UniformBits(u->src(1));
        const bool shift = by && *by > 0 && (*by & (*by - 1)) == 0;
        cost += shift ? 1 : kDivision;
        break;
      }
      case Op::kCDiv:
      case Op::kCMod:
        cost += kDivision;
        break;
      default:
        cost += 1;
    }
  }
  return cost;
}

// Simplifies `u` by the rules of algebra only.
const UOp* Algebra(const UOp* u, rewrite::RuleContext& rc) {
  if (!rc.nested) return u;
  const auto r = rc.nested->Rewrite(u);
  return r.ok() ? *r : u;
}

// A variable of the type of `x` whose bounds are `range`.
const UOp* Placeholder(const UOp* x, analysis::Interval range, rewrite::RuleContext& rc) {
  if (range.IsPoint()) return rewrite::UniformConst(rc.ctx, x->dtype, range.lo);
  const std::string name = absl::StrCat("$", x->id, "$", range.lo, "$", range.hi);
  const UOp* placeholder = rc.ctx.Make(Op::kVar, x->dtype, {}, Attr{rc.ctx.Intern(name)});
  rc.bounds.Declare(placeholder, range);
  return placeholder;
}

// Simplifies `value`, whose expression has the nodes `nodes`, under the assumption that `x` is
// within `range`: a variable with these bounds replaces x, and x replaces the variable in the
// result.
const UOp* Assume(const UOp* x, analysis::Interval range, const UOp* value, const NodeList& nodes,
                  rewrite::RuleContext& rc) {
  if (!Contains(nodes, x)) return value;
  const UOp* placeholder = Placeholder(x, range, rc);
  const UOp* simple = Algebra(Replace(rc, nodes, {{x, placeholder}}), rc);
  if (IsConst(placeholder) || placeholder->op == Op::kVConst) return simple;
  const NodeList new_nodes = NodesOf(simple);
  return new_nodes.empty() ? value : Replace(rc, new_nodes, {{placeholder, x}});
}

// `value` without the divisions by what is no constant whose quotients the clauses decide, such as
// (i + k) / (n + 4) where i < n.
const UOp* WithoutDivisions(const Clauses& clauses, const UOp* value, const NodeList& nodes,
                            rewrite::RuleContext& rc) {
  const auto divides = [](const UOp* u) {
    return (u->op == Op::kFloorDiv || u->op == Op::kFloorMod) && !rewrite::UniformBits(u->src(1));
  };
  if (std::none_of(nodes.begin(), nodes.end(), divides)) return value;
  std::vector<Polynomial> facts;
  for (const UOp* clause : clauses) {
    if (std::optional<Polynomial> fact = AsFact(clause)) facts.push_back(*std::move(fact));
  }
  if (facts.empty()) return value;
  Replacements to;
  for (const UOp* u : nodes) {
    const UOp* divided = divides(u) ? FoldSymbolicDivMod(u, facts, rc) : nullptr;
    if (divided) to.push_back({u, divided});
  }
  return to.empty() ? value : Replace(rc, nodes, to);
}

using BoundList = llvm::SmallVector<Bound, 8>;

// The same for all `bounds` at once that are on leaves of the value, such as loop ids, because
// proving that a sum is not negative may need several. Returns `value` if fewer than `least` of the
// bounds are on leaves of the value and tell something new.
const UOp* AssumeAll(const BoundList& bounds, size_t least, const UOp* value, const NodeList& nodes,
                     rewrite::RuleContext& rc) {
  BoundList helpful;
  for (const Bound& b : bounds) {
    if (!IsArithmetic(b.of) && b.range != rc.bounds.Of(b.of) && Contains(nodes, b.of)) {
      helpful.push_back(b);
    }
  }
  if (helpful.size() < least) return value;
  Replacements there, back;
  for (const Bound& b : helpful) {
    const UOp* placeholder = Placeholder(b.of, b.range, rc);
    there.push_back({b.of, placeholder});
    if (!IsConst(placeholder) && placeholder->op != Op::kVConst)
      back.push_back({placeholder, b.of});
  }
  const UOp* simple = Algebra(Replace(rc, nodes, there), rc);
  if (!back.empty()) {
    const NodeList its = NodesOf(simple);
    if (its.empty()) return value;
    simple = Replace(rc, its, back);
  }
  // Terms were sorted by the substitutes; this sorts them again by the original nodes.
  return Algebra(simple, rc);
}

// Whether the bound is 0 < a + b, where neither is a product and there is no third term.
bool IsPositiveSum(const Bound& b) {
  return b.range.lo == 1 && b.of->op == Op::kAdd && b.of->src(0)->op != Op::kMul &&
         b.of->src(1)->op != Op::kMul && b.of->src(0)->op != Op::kAdd && !IsConst(b.of->src(1));
}

// If a sum of indices with positive coefficients is not at its least (or, if `least` is false, its
// greatest) value, then some term is not at its least (greatest) value either. Returns that bound
// for each term; at least one of them holds. Empty if the sum may be at that value.
BoundList Alternatives(const Bound& bound, bool least, rewrite::RuleContext& rc) {
  BoundList terms;
  if (bound.of->op != Op::kAdd || !bound.of->dtype.is_index()) return terms;
  const auto form = ParseAffine(bound.of);
  if (!form) return terms;
  const analysis::Interval whole = analysis::IntervalOf(*form, rc.bounds);
  if (!whole.HasLo() || !whole.HasHi()) return terms;
  if (least ? bound.range.lo <= whole.lo : bound.range.hi >= whole.hi) return terms;
  for (const auto& t : form->terms) {
    if (t.coef < 0) return {};
    const analysis::Interval v = rc.bounds.Of(t.node);
    terms.push_back(
        {t.node, least ? analysis::Interval{v.lo + 1, v.hi} : analysis::Interval{v.lo, v.hi - 1}});
  }
  return terms;
}

// The common form of `value` under each of `alternatives` combined with `bounds`; alternatives that
// contradict a bound are skipped. Null if the forms differ, if one alternative leaves the value
// unchanged, or if a node of an alternative does not occur in the value.
const UOp* AssumeOneOf(const BoundList& alternatives, const BoundList& bounds, const UOp* value,
                       const NodeList& nodes, rewrite::RuleContext& rc) {
  const UOp* agreed = nullptr;
  const auto occurs = [&](const Bound& b) { return Contains(nodes, b.of); };
  if (!std::all_of(alternatives.begin(), alternatives.end(), occurs)) return nullptr;
  for (const Bound& a : alternatives) {
    if (a.range.lo > a.range.hi) continue;
    BoundList all = bounds;
    auto same = std::find_if(all.begin(), all.end(), [&](const Bound& o) { return o.of == a.of; });
    if (same == all.end()) {
      all.push_back(a);
    } else {
      same->range = analysis::Intersect(same->range, a.range);
      if (same->range.lo > same->range.hi) continue;
    }
    const UOp* one = AssumeAll(all, 1, value, nodes, rc);
    if (one == value || (agreed && one != agreed)) return nullptr;
    agreed = one;
  }
  return agreed;
}

}  // namespace

const UOp* SimplifyUnderClauses(const Clauses& clauses, const UOp* value,
                                rewrite::RuleContext& rc) {
  if (IsConst(value) || value->op == Op::kVConst) return value;
  NodeList nodes = NodesOf(value);
  if (nodes.empty()) return value;
  // Replaces the result by `other` if that costs less.
  const auto take = [&](const UOp* other) {
    if (other == value) return;
    const UOp* simple = Algebra(other, rc);
    if (simple == value) return;
    NodeList its = NodesOf(simple);
    if (its.empty() || Cost(its) >= Cost(nodes)) return;
    value = simple;
    nodes = std::move(its);
  };
  // A value of only sums, differences and products can be simplified by a bound only if that fixes
  // a node at one constant.
  bool linear = std::all_of(nodes.begin(), nodes.end(), IsLinear);
  BoundList bounds;
  for (const UOp* clause : clauses) {
    const Bound b = AsBound(clause);
    if (!b.of) {
      // Replaces the clause itself by true, or the operand of a negated clause by false.
      const UOp* positive = Negated(clause);
      const UOp* known = positive ? positive : clause;
      if (Contains(nodes, known)) {
        take(Replace(rc, nodes,
                     {{known, rewrite::UniformConst(rc.ctx, clause->dtype, positive ? 0 : 1)}}));
      }
      // If the clause says that two values are equal, each may replace the other.
      const bool equal = positive && positive->op == Op::kCmpNe;
      if (!equal || linear || !positive->src(0)->dtype.is_index()) continue;
      const UOp *x = positive->src(0), *y = positive->src(1);
      if (Contains(nodes, x)) take(Replace(rc, nodes, {{x, y}}));
      if (Contains(nodes, y)) take(Replace(rc, nodes, {{y, x}}));
      continue;
    }
    auto same =
        std::find_if(bounds.begin(), bounds.end(), [&](const Bound& o) { return o.of == b.of; });
    if (same == bounds.end()) {
      bounds.push_back({b.of, analysis::Intersect(rc.bounds.Of(b.of), b.range)});
    } else {
      same->range = analysis::Intersect(same->range, b.range);
    }
  }
  linear = std::all_of(nodes.begin(), nodes.end(), IsLinear);
  for (const Bound& b : bounds) {
    if (b.range.lo > b.range.hi) return nullptr;
    if (b.range == rc.bounds.Of(b.of) || (linear && !b.range.IsPoint())) continue;
    // If `value` is itself a bound on the same expression, it is implied, impossible or unchanged.
    if (const Bound own = AsBound(value); own.of == b.of && !b.range.IsPoint()) {
      const analysis::Interval both = analysis::Intersect(own.range, b.range);
      if (both == b.range) return rewrite::UniformConst(rc.ctx, value->dtype, 1);
      if (both.lo > both.hi) return rewrite::UniformConst(rc.ctx, value->dtype, 0);
      if (!both.IsPoint()) continue;
    }
    take(Assume(b.of, b.range, value, nodes, rc));
  }
  if (linear) return value;
  const auto divides = [](const UOp* u) { return IsDivision(u->op); };
  const bool divided = std::any_of(nodes.begin(), nodes.end(), divides);
  // Where the divisor of one is the quotient of another, it is known only once that is.
  for (const UOp* before = nullptr; divided && before != value;) {
    before = value;
    take(WithoutDivisions(clauses, value, nodes, rc));
  }
  if (divided && bounds.size() > 1) take(AssumeAll(bounds, 2, value, nodes, rc));
  for (const Bound& b : bounds) {
    for (const bool least : {true, false}) {
      // Alternatives rarely simplify a value that has no division.
      if (!divided && !(least && IsPositiveSum(b))) continue;
      const BoundList alternatives = Alternatives(b, least, rc);
      if (alternatives.size() < 2) continue;
      const UOp* agreed =
          AssumeOneOf(alternatives, divided ? bounds : BoundList(), value, nodes, rc);
      if (agreed) take(agreed);
    }
  }
  return value;
}

}  // namespace tg::simplify
