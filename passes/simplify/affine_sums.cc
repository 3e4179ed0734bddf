#include "passes/simplify/affine_sums.h"

#include <algorithm>

#include "passes/rewrite/build.h"
#include "passes/rewrite/match.h"

namespace tg::simplify {
namespace {

// The dividend and the constant divisor of a quotient; (u, 1) if u is not a quotient.
struct Quotient {
  const UOp* of;
  int64_t by;
};
Quotient AsQuotient(const UOp* u) {
  if (u->op == Op::kFloorDiv) {
    const auto by = rewrite::UniformBits(u->src(1));
    if (by && *by > 0) return {u->src(0), *by};
  }
  return {u, 1};
}

// Joins a remainder term (x % c) * k with the quotient of the same division: with (x / c) * (k * c)
// to x * k, with (x / c % d) * (k * c) to (x % (c * d)) * k. Repeats until no such pair is left.
bool JoinDivMod(AffineExpr& form, rewrite::RuleContext& rc) {
  bool joined = false;
  for (size_t i = 0; i < form.terms.size(); ++i) {
    const AffineExpr::Term low = form.terms[i];
    if (low.node->op != Op::kFloorMod) continue;
    const auto c = rewrite::UniformBits(low.node->src(1));
    if (!c || *c <= 0) continue;
    const Quotient base = AsQuotient(low.node->src(0));
    const std::optional<int64_t> high_coef = form.Product(low.coef, *c);
    int64_t by;
    if (__builtin_mul_overflow(base.by, *c, &by) || !high_coef) continue;
    for (size_t j = 0; j < form.terms.size(); ++j) {
      const AffineExpr::Term high = form.terms[j];
      if (j == i || high.coef != high_coef) continue;
      const bool is_mod = high.node->op == Op::kFloorMod;
      const Quotient q = AsQuotient(is_mod ? high.node->src(0) : high.node);
      if (q.of != base.of || q.by != by) continue;
      const UOp* whole = low.node->src(0);
      if (is_mod) {
        const auto d = rewrite::UniformBits(high.node->src(1));
        int64_t both;
        if (!form.type.is_index() || !d || *d <= 0 || __builtin_mul_overflow(*c, *d, &both)) {
          continue;
        }
        whole = rc.ctx.Make(Op::kFloorMod, form.type,
                            {whole, rewrite::UniformConst(rc.ctx, form.type, both)});
      }
      form.terms.erase(form.terms.begin() + static_cast<ptrdiff_t>(std::max(i, j)));
      form.terms.erase(form.terms.begin() + static_cast<ptrdiff_t>(std::min(i, j)));
      // Two terms were removed and at most as many are added, so this does not fail.
      if (!form.Add(whole, low.coef)) return joined;
      joined = true;
      i = static_cast<size_t>(-1);  // starts again, since the terms have changed
      break;
    }
  }
  return joined;
}

}  // namespace

void SortTerms(AffineExpr& form, rewrite::RuleContext& rc) {
  if (form.terms.size() < 2) return;
  const auto magnitude = [](int64_t v) {
    return v < 0 ? -static_cast<uint64_t>(v) : static_cast<uint64_t>(v);
  };
  std::sort(form.terms.begin(), form.terms.end(),
            [&](const AffineExpr::Term& a, const AffineExpr::Term& b) {
              // A vector of constants sorts like a constant.
              const bool va = a.node->op == Op::kVConst, vb = b.node->op == Op::kVConst;
              if (va != vb) return vb;
              const int64_t ra = rc.order.Rank(a.node), rb = rc.order.Rank(b.node);
              if (ra != rb) return ra < rb;
              if (magnitude(a.coef) != magnitude(b.coef)) {
                return magnitude(a.coef) > magnitude(b.coef);
              }
              return rc.order.Hash(a.node) < rc.order.Hash(b.node);
            });
}

namespace {

// Whether `u` is the canonical form of `form`, whose terms are sorted. This saves building the form
// of most sums, since they are canonical already.
bool IsBuilt(const AffineExpr& form, const UOp* u) {
  const auto is_constant = [&](const UOp* v, int64_t bits) {
    return v->dtype == form.type && rewrite::UniformBits(v) == bits;
  };
  const auto is_term = [&](const UOp* v, const AffineExpr::Term& t) {
    if (t.coef == 1) return v == t.node;
    return v->op == Op::kMul && v->src(0) == t.node && is_constant(v->src(1), t.coef);
  };
  size_t n = form.terms.size();
  if (n == 0 || form.terms[n - 1].node->op == Op::kVConst) return false;
  if (form.constant != 0) {
    if (u->op != Op::kAdd || !is_constant(u->src(1), form.constant)) return false;
    u = u->src(0);
  }
  for (; n > 1; --n) {
    if (u->op != Op::kAdd || !is_term(u->src(1), form.terms[n - 1])) return false;
    u = u->src(0);
  }
  return is_term(u, form.terms[0]);
}

}  // namespace

const UOp* BuildAffine(AffineExpr& form, rewrite::RuleContext& rc, const UOp* old) {
  SortTerms(form, rc);
  if (old && IsBuilt(form, old)) return old;
  // Vectors of constants come last, so that their sum with the constant can be folded.
  const UOp *sum = nullptr, *constants = nullptr;
  const auto add = [&](const UOp*& to, const UOp* u) {
    to = to ? rc.ctx.Make(Op::kAdd, form.type, {to, u}) : u;
  };
  for (const auto& [node, coef] : form.terms) {
    const UOp* term = coef == 1
                          ? node
                          : rc.ctx.Make(Op::kMul, form.type,
                                        {node, rewrite::UniformConst(rc.ctx, form.type, coef)});
    add(node->op == Op::kVConst ? constants : sum, term);
  }
  if (form.constant != 0 || (!sum && !constants)) {
    add(constants, rewrite::UniformConst(rc.ctx, form.type, form.constant));
  }
  if (constants) add(sum, constants);
  return sum;
}

// Whether `u` adds to a canonical sum an operand that sorts after all of its terms: a constant, or
// a term of higher rank. Then `u` is canonical: the sum has no like term, nor a remainder that
// could be joined with the new term, because either would have the same rank.
bool ExtendsSum(const UOp* u, rewrite::RuleContext& rc) {
  const UOp *sum = u->src(0), *term = u->src(1);
  const UOp* last = sum->op == Op::kAdd ? sum->src(1) : sum;
  if (last->op == Op::kConst || last->op == Op::kVConst || rewrite::UniformBits(last)) return false;
  if (term->op == Op::kConst) return term->word() != 0 && u->dtype.lanes() == 1;
  if (rewrite::UniformBits(term)) return false;
  if (term->op == Op::kVConst) return true;
  return term->op != Op::kAdd && rc.order.Rank(last) < rc.order.Rank(term);
}

const UOp* CanonicalSum(const UOp* u, rewrite::RuleContext& rc) {
  if (ExtendsSum(u, rc)) return nullptr;
  auto form = ParseAffine(u);
  if (!form) return nullptr;
  JoinDivMod(*form, rc);
  return BuildAffine(*form, rc, u);
}

const UOp* DistributeProduct(const UOp* u, rewrite::RuleContext& rc) {
  if (!u->dtype.is_index() || u->src(0)->op != Op::kAdd || !rewrite::UniformBits(u->src(1)))
    return nullptr;
  auto form = ParseAffine(u);
  return form ? BuildAffine(*form, rc) : nullptr;
}

const UOp* NegateExtremum(const UOp* u, rewrite::RuleContext& rc) {
  const UOp* x = u->src(0);
  if (!u->dtype.is_index() || (x->op != Op::kMax && x->op != Op::kMin)) return nullptr;
  const auto factor = rewrite::UniformBits(u->src(1)), limit = rewrite::UniformBits(x->src(1));
  if (!factor || *factor >= 0 || *factor == INT64_MIN || !limit || *limit == INT64_MIN) {
    return nullptr;
  }
  auto form = ParseAffine(x->src(0));
  if (!form) return nullptr;
  for (const auto& t : form->terms) {
    if (t.coef > 0) return nullptr;
  }
  if (!form->Scale(-1)) return nullptr;
  const UOp* sides[] = {BuildAffine(*form, rc), rewrite::UniformConst(rc.ctx, u->dtype, -*limit)};
  const UOp* other = rc.ctx.Make(x->op == Op::kMax ? Op::kMin : Op::kMax, u->dtype, sides);
  const UOp* scale = rewrite::UniformConst(rc.ctx, u->dtype, -*factor);
  return rc.ctx.Make(Op::kMul, u->dtype, {other, scale});
}

const UOp* CanonicalOperands(const UOp* u, rewrite::RuleContext& rc) {
  const UOp *a = u->src(0), *b = u->src(1);
  if (!rewrite::MayCommute(u) || a == b) return nullptr;
  // In sums of integers, CanonicalSum places vectors of differing constants.
  const bool is_sum = u->op == Op::kAdd && u->dtype.is_int_or_index();
  const auto is_const = [&](const UOp* v) {
    return v->op == Op::kConst || (v->op == Op::kVConst && (!is_sum || rewrite::UniformBits(v)));
  };
  bool turn = is_const(a) && !is_const(b);
  // Constants move to the right in any op. Other operands are sorted except for floats, which keep
  // the author's order, and for ops that another rule sorts: CanonicalSum, FoldCompareOfSums (!= of
  // indices) and CanonicalAnd (clauses).
  if (!turn && !is_const(b) && u->op != Op::kAdd && !a->dtype.is_float() &&
      !(u->op == Op::kCmpNe && a->dtype.is_index()) && !(u->op == Op::kAnd && a->dtype.is_bool())) {
    turn = rc.order.Compare(b, a) < 0;
  }
  return turn ? rc.ctx.Make(u->op, u->dtype, {b, a}, u->attr) : nullptr;
}

}  // namespace tg::simplify
