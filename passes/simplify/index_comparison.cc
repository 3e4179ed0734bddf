#include "passes/simplify/index_comparison.h"

#include <numeric>

#include "base/arithmetic.h"
#include "passes/analysis/affine.h"
#include "passes/rewrite/build.h"
#include "passes/simplify/affine_sums.h"

namespace tg::simplify {
namespace {

// `sum` < 0 or `sum` != 0 as a node, in the form that index_comparison.h describes.
const UOp* Build(Op op, const AffineExpr& sum, DType type, rewrite::RuleContext& rc) {
  AffineExpr left, right;
  left.type = right.type = sum.type;
  const auto is_constant = [](const AffineExpr::Term& t) { return t.node->op == Op::kVConst; };
  for (const auto& t : sum.terms) {
    if (t.coef == INT64_MIN) return nullptr;
    if (is_constant(t)) continue;
    if (t.coef > 0) {
      left.terms.push_back(t);
    } else {
      right.terms.push_back({t.node, -t.coef});
    }
  }
  if (sum.constant == INT64_MIN) return nullptr;
  const bool on_left = left.terms.empty();
  AffineExpr& side = on_left ? left : right;
  side.constant = on_left ? sum.constant : -sum.constant;
  for (const auto& t : sum.terms) {
    if (is_constant(t)) side.terms.push_back({t.node, on_left ? t.coef : -t.coef});
  }
  return rc.ctx.Make(op, type, {BuildAffine(left, rc), BuildAffine(right, rc)});
}

// Replaces `sum` by one with fewer terms such that sum < 0 stays equivalent, if a part of the sum
// is smaller than the common divisor of the rest. False if that is not so.
bool DropSmallRest(AffineExpr& sum, rewrite::RuleContext& rc) {
  for (size_t i = 0; i < sum.terms.size(); ++i) {
    const int64_t d = std::abs(sum.terms[i].coef);
    if (d == 1) continue;
    AffineExpr big, rest;
    big.type = rest.type = sum.type;
    for (const auto& t : sum.terms) {
      if (t.coef % d == 0) {
        big.terms.push_back({t.node, t.coef / d});
      } else {
        rest.terms.push_back(t);
      }
    }
    if (rest.terms.empty()) continue;
    const analysis::Interval r = analysis::IntervalOf(rest, rc.bounds);
    if (!r.HasLo() || !r.HasHi()) continue;
    // d*A + R <= n, where n = -constant - 1. With R = d*q + r, 0 <= r < d, and n = d*m + s:
    // A + q <= m where all r <= s, and A + q <= m - 1 where all r > s.
    const int64_t q = FloorDiv(r.lo, d);
    if (FloorDiv(r.hi, d) != q) continue;
    const int64_t n = -sum.constant - 1;
    const int64_t m = FloorDiv(n, d), s = FloorMod(n, d);
    int64_t limit;  // A <= limit
    if (FloorMod(r.hi, d) <= s) {
      limit = m - q;
    } else if (FloorMod(r.lo, d) > s) {
      limit = m - q - 1;
    } else {
      continue;
    }
    big.constant = -limit - 1;
    sum = big;
    return true;
  }
  return false;
}

// The number congruent to v modulo m that has the least magnitude.
int64_t NearestResidue(int64_t v, int64_t m) {
  const int64_t r = FloorMod(v, m);
  return r > m / 2 ? r - m : r;
}

}  // namespace

const UOp* FoldCompareOfRemainder(const UOp* u, rewrite::RuleContext& rc) {
  const UOp* x = u->src(0);
  if (x->op != Op::kFloorMod || !x->dtype.is_index()) return nullptr;
  const auto divisor = rewrite::UniformBits(x->src(1)), other = rewrite::UniformBits(u->src(1));
  if (!divisor || !other || *divisor <= 1 || *divisor > INT32_MAX) return nullptr;
  const int64_t m = *divisor;
  // The remainder for which the comparison tests: `< 1` means equal to 0, `< m - 1` means different
  // from m - 1.
  const bool equals = u->op == Op::kCmpLt && *other == 1;
  const int64_t number = equals ? 0 : *other;
  if (u->op == Op::kCmpLt ? !equals && *other != m - 1 : *other < 0 || *other >= m) return nullptr;
  const auto sum = ParseAffine(x->src(0));
  if (!sum) return nullptr;
  AffineExpr near;
  near.type = sum->type;
  for (const auto& t : sum->terms) {
    const int64_t coef = NearestResidue(t.coef, m);
    if (coef != 0) near.terms.push_back({t.node, coef});
  }
  const analysis::Interval range = analysis::IntervalOf(near, rc.bounds);
  if (near.terms.empty() || range.lo < -INT32_MAX || range.hi > INT32_MAX) return nullptr;
  // Chooses the constant, which is free modulo m, so that the least value of the sum is in
  // 1 - m .. 0. If then its greatest value is below m, 0 is the only multiple of m in its range.
  const int64_t least = range.lo + NearestResidue(sum->constant, m) - number;
  const int64_t r = FloorMod(least, m);
  near.constant = (r == 0 ? 0 : r - m) - range.lo;
  if (range.hi + near.constant >= m) return nullptr;
  SortTerms(near, rc);
  const UOp* differs = Build(Op::kCmpNe, near, u->dtype, rc);
  if (!differs || !equals) return differs;
  return rc.ctx.Make(Op::kCmpNe, u->dtype, {differs, rewrite::UniformConst(rc.ctx, u->dtype, 1)});
}

const UOp* FoldCompareOfSums(const UOp* u, rewrite::RuleContext& rc) {
  if (!u->src(0)->dtype.is_index()) return nullptr;
  auto sum = ParseAffine(u->src(0));
  if (!sum || !sum->Add(u->src(1), -1)) return nullptr;
  constexpr int64_t kLimit = INT64_MAX / 4;
  if (sum->constant > kLimit || sum->constant < -kLimit) return nullptr;
  for (const auto& t : sum->terms) {
    if (t.coef > kLimit || t.coef < -kLimit) return nullptr;
  }
  const analysis::Interval v = analysis::IntervalOf(*sum, rc.bounds);
  bool less = u->op == Op::kCmpLt;
  if (!less && (v.lo == 0 || v.hi == 0) && v.lo != v.hi) {
    // If the sum cannot be negative (or cannot be positive), sum != 0 is a comparison by `<`.
    if (v.lo == 0 && !sum->Scale(-1)) return nullptr;
    less = true;
  }
  const auto result = [&](bool b) { return rewrite::UniformConst(rc.ctx, u->dtype, b); };
  if (less) {
    const analysis::Interval w = analysis::IntervalOf(*sum, rc.bounds);
    if (w.hi < 0) return result(true);
    if (w.lo >= 0) return result(false);
  } else {
    if (v.lo > 0 || v.hi < 0) return result(true);
    if (v == analysis::Interval::Point(0)) return result(false);
  }
  if (less) {
    while (DropSmallRest(*sum, rc)) {
    }
  }
  int64_t g = 0;
  for (const auto& t : sum->terms) g = std::gcd(g, t.coef);
  if (g > 1) {
    if (!less && sum->constant % g != 0) return result(true);
    for (auto& t : sum->terms) t.coef /= g;
    // A*g + k < 0 is A*g <= -k - 1, A <= floor((-k - 1) / g), A - floor((-k - 1) / g) - 1 < 0.
    sum->constant = less ? -FloorDiv(-sum->constant - 1, g) - 1 : sum->constant / g;
  }
  // For `!=`, negates the sum if needed so that its first term is on the left.
  SortTerms(*sum, rc);
  if (!less && sum->terms[0].coef < 0 && !sum->Scale(-1)) return nullptr;
  return Build(less ? Op::kCmpLt : Op::kCmpNe, *sum, u->dtype, rc);
}

}  // namespace tg::simplify
