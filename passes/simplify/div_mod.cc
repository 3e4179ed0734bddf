#include "passes/simplify/div_mod.h"

#include <numeric>

#include "base/arithmetic.h"
#include "passes/analysis/affine.h"
#include "passes/rewrite/build.h"
#include "passes/simplify/affine_sums.h"
#include "passes/simplify/polynomial.h"

namespace tg::simplify {
namespace {

// The quotient by c, if it is the same for all values in `v`.
std::optional<int64_t> OneQuotient(analysis::Interval v, int64_t c) {
  if (!v.HasLo() || !v.HasHi()) return std::nullopt;
  const int64_t q = FloorDiv(v.lo, c);
  if (q != FloorDiv(v.hi, c)) return std::nullopt;
  return q;
}

// Simplifies num / c or num % c. Each step returns null if it does not apply.
class DivMod {
 public:
  DivMod(const UOp* u, AffineExpr num, int64_t c, rewrite::RuleContext& rc)
      : rc_(rc), num_(std::move(num)), c_(c), is_div_(u->op == Op::kFloorDiv), type_(u->dtype) {}

  const UOp* Run() {
    if (const UOp* r = ByBounds(num_)) return r;
    if (const UOp* r = Reduce()) return r;
    if (const UOp* r = DivideCommonFactor()) return r;
    if (const UOp* r = DropSmallRest()) return r;
    if (const UOp* r = OtherRepresentatives()) return r;
    return TwoValues();
  }

 private:
  const UOp* Const(int64_t v) { return rewrite::UniformConst(rc_.ctx, type_, v); }
  const UOp* Make(Op op, AffineExpr num, int64_t c) {
    return rc_.ctx.Make(op, type_, {BuildAffine(num, rc_), Const(c)});
  }
  // form + node * coef.
  const UOp* Plus(AffineExpr form, const UOp* node, int64_t coef) {
    if (!form.Add(node, coef)) return nullptr;
    return BuildAffine(form, rc_);
  }
  AffineExpr Empty() const {
    AffineExpr f;
    f.type = type_;
    return f;
  }

  // Requires that `form` is the numerator or, for a remainder, congruent to it modulo c.
  const UOp* ByBounds(const AffineExpr& form) {
    const auto q = OneQuotient(analysis::IntervalOf(form, rc_.bounds), c_);
    int64_t subtract;
    if (!q || __builtin_mul_overflow(-*q, c_, &subtract)) return nullptr;
    if (is_div_) return Const(*q);
    AffineExpr rest = form;
    if (!rest.AddConstant(subtract)) return nullptr;
    return BuildAffine(rest, rc_);
  }

  // Reduces coefficients of at least c, and the constant, modulo c, and drops inner remainders that
  // the outer one makes redundant.
  const UOp* Reduce() {
    AffineExpr whole = Empty(), rest = Empty();
    bool changed = false;
    for (const auto& [node, coef] : num_.terms) {
      // Truncation keeps small negative coefficients: -1 is cheaper than c - 1.
      const int64_t m = coef / c_, r = coef % c_;
      if (m != 0) changed = true;
      if (!whole.AddTerm(node, m)) return nullptr;
      if (r == 0) continue;
      if (!is_div_ && node->op == Op::kFloorMod) {
        const auto inner = rewrite::UniformBits(node->src(1));
        int64_t period;
        if (inner && *inner > 0 && !__builtin_mul_overflow(*inner, r, &period) &&
            period % c_ == 0) {
          changed = true;
          if (!rest.Add(node->src(0), r)) return nullptr;
          continue;
        }
      }
      if (!rest.AddTerm(node, r)) return nullptr;
    }
    // Reduces the constant modulo c. If the sum was not negative before and could be afterwards,
    // multiples of c are added back: 31 - g stays as it is for g in 0..31, whatever c is.
    int64_t k = FloorMod(num_.constant, c_), floor = FloorDiv(num_.constant, c_);
    if (analysis::IntervalOf(num_, rc_.bounds).lo >= 0) {
      const int64_t low = analysis::IntervalOf(rest, rc_.bounds).lo;
      if (low < -(INT64_MAX / 4)) return nullptr;
      if (low + k < 0) {
        const int64_t more = (-(low + k) + c_ - 1) / c_;
        k += more * c_;
        floor -= more;
      }
    }
    if (k != num_.constant) changed = true;
    if (!changed || !whole.AddConstant(floor) || !rest.AddConstant(k)) {
      return nullptr;
    }
    if (!is_div_) return Make(Op::kFloorMod, rest, c_);
    if (rest.terms.empty()) return BuildAffine(whole, rc_);
    return Plus(whole, Make(Op::kFloorDiv, rest, c_), 1);
  }

  const UOp* DivideCommonFactor() {
    int64_t g = c_;
    for (const auto& t : num_.terms) g = std::gcd(g, t.coef);
    if (g == 1 || num_.terms.empty()) return nullptr;
    AffineExpr inner = num_;
    for (auto& t : inner.terms) t.coef /= g;
    inner.constant = FloorDiv(num_.constant, g);
    if (is_div_) return Make(Op::kFloorDiv, inner, c_ / g);
    AffineExpr out = Empty();
    if (!out.AddConstant(FloorMod(num_.constant, g))) return nullptr;
    return Plus(out, Make(Op::kFloorMod, inner, c_ / g), g);
  }

  const UOp* DropSmallRest() {
    for (const auto& [node, coef] : num_.terms) {
      const int64_t d = std::gcd(coef, c_);
      if (d == 1) continue;
      AffineExpr big = Empty(), rest = Empty();
      for (const auto& t : num_.terms) {
        if (t.coef % d == 0) {
          if (!big.AddTerm(t.node, t.coef / d)) return nullptr;
        } else if (!rest.AddTerm(t.node, t.coef)) {
          return nullptr;
        }
      }
      rest.constant = num_.constant;
      const auto q = OneQuotient(analysis::IntervalOf(rest, rc_.bounds), d);
      int64_t subtract;
      if (!q || __builtin_mul_overflow(-*q, d, &subtract) || !big.AddConstant(*q) ||
          !rest.AddConstant(subtract)) {
        continue;
      }
      if (is_div_) return Make(Op::kFloorDiv, big, c_ / d);
      return Plus(rest, Make(Op::kFloorMod, big, c_ / d), d);
    }
    return nullptr;
  }

  // Tries coefficients in -c/2..c/2, then coefficients in 0..c-1.
  const UOp* OtherRepresentatives() {
    for (const bool balanced : {true, false}) {
      AffineExpr rest = Empty(), whole = Empty();
      for (const auto& [node, coef] : num_.terms) {
        int64_t r = FloorMod(coef, c_);
        if (balanced && r > c_ - r) r -= c_;
        if (!rest.AddTerm(node, r) || !whole.AddTerm(node, (coef - r) / c_)) return nullptr;
      }
      rest.constant = num_.constant;
      const auto q = OneQuotient(analysis::IntervalOf(rest, rc_.bounds), c_);
      if (!q) continue;
      if (!is_div_) return ByBounds(rest);
      if (whole.AddConstant(*q)) return BuildAffine(whole, rc_);
    }
    return nullptr;
  }

  const UOp* TwoValues() {
    if (num_.terms.size() != 1) return nullptr;
    const auto& [node, coef] = num_.terms[0];
    const analysis::Interval v = rc_.bounds.Of(node);
    if (!v.HasLo() || !v.HasHi() || v.hi - 1 != v.lo) return nullptr;
    int64_t at[2];
    for (int i = 0; i < 2; ++i) {
      int64_t n;
      if (__builtin_mul_overflow(coef, v.lo + i, &n) ||
          __builtin_add_overflow(n, num_.constant, &n)) {
        return nullptr;
      }
      at[i] = is_div_ ? FloorDiv(n, c_) : FloorMod(n, c_);
    }
    // at[0] + (node - lo) * slope
    const int64_t slope = at[1] - at[0];
    AffineExpr out = Empty();
    int64_t base;
    if (__builtin_mul_overflow(-slope, v.lo, &base) || !out.AddConstant(base) ||
        !out.AddConstant(at[0])) {
      return nullptr;
    }
    return Plus(out, node, slope);
  }

  rewrite::RuleContext& rc_;
  const AffineExpr num_;
  const int64_t c_;
  const bool is_div_;
  const DType type_;
};

}  // namespace

const UOp* FoldDivModOfSum(const UOp* u, rewrite::RuleContext& rc) {
  if (!u->dtype.is_index()) return nullptr;
  const auto c = rewrite::UniformBits(u->src(1));
  // A quarter of the range of int64 is enough for any memory, and keeps the arithmetic of DivMod
  // from overflowing.
  if (!c || *c <= 1 || *c > INT64_MAX / 4) return nullptr;
  auto num = ParseAffine(u->src(0));
  if (!num) return nullptr;
  for (const auto& t : num->terms) {
    if (t.coef > INT64_MAX / 4 || t.coef < -(INT64_MAX / 4)) return nullptr;
  }
  if (num->constant > INT64_MAX / 4 || num->constant < -(INT64_MAX / 4)) return nullptr;
  return DivMod(u, std::move(*num), *c, rc).Run();
}

const UOp* FoldSymbolicDivMod(const UOp* u, rewrite::RuleContext& rc) {
  return FoldSymbolicDivMod(u, {}, rc);
}

const UOp* FoldSymbolicDivMod(const UOp* u, std::span<const Polynomial> facts,
                              rewrite::RuleContext& rc) {
  const UOp *x = u->src(0), *y = u->src(1);
  if (u->dtype != kIndex || rewrite::UniformBits(y)) return nullptr;
  const bool is_positive = rc.bounds.Min(y) > 0;
  if (!is_positive && facts.empty()) return nullptr;
  const std::optional<Polynomial> num = Polynomial::Of(x), by = Polynomial::Of(y);
  const auto divided = num && by ? num->DividedBy(*by) : std::nullopt;
  if (!divided) return nullptr;
  const auto& [quotient, rest] = *divided;
  const std::optional<Polynomial> least_above = rest.Plus(Polynomial::Constant(1), 1);
  const std::optional<Polynomial> gap = least_above ? by->Plus(*least_above, -1) : std::nullopt;
  const bool is_div = u->op == Op::kFloorDiv;
  // These two say that y is positive, too.
  if (gap && rest.IsNonNegative(rc.bounds, facts) && gap->IsNonNegative(rc.bounds, facts)) {
    return (is_div ? quotient : rest).Build(rc.ctx);
  }
  // Taking multiples of the divisor out is worth it if that makes the sum shorter.
  if (!is_positive || quotient.is_zero() || rest.size() >= num->size()) return nullptr;
  const UOp* inner = rc.ctx.Make(u->op, kIndex, {rest.Build(rc.ctx), y});
  return is_div ? rc.ctx.Make(Op::kAdd, kIndex, {quotient.Build(rc.ctx), inner}) : inner;
}

const UOp* FoldRangeAgainstEnd(const UOp* u, rewrite::RuleContext& rc) {
  const UOp *r = u->src(0), *e = u->src(1);
  if ((r->op != Op::kRange && r->op != Op::kSpecial) || r->src(0) != e) return nullptr;
  switch (u->op) {
    case Op::kFloorDiv:
      return rewrite::UniformConst(rc.ctx, u->dtype, 0);
    case Op::kFloorMod:
      return r;
    case Op::kCmpLt:
      return rewrite::UniformConst(rc.ctx, u->dtype, 1);
    default:
      return nullptr;
  }
}

}  // namespace tg::simplify
