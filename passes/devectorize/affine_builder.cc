#include "passes/devectorize/affine_builder.h"

#include <algorithm>
#include <cstdlib>
#include <numeric>

#include "base/arithmetic.h"
#include "llvm/ADT/STLExtras.h"
#include "passes/analysis/affine.h"

namespace tg::devectorize {
namespace {

// An `index` of a valid program does not overflow. Wrapping arithmetic keeps tg itself free of
// undefined behaviour for any other.
int64_t WrapAdd(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
}
int64_t WrapMul(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
}
int64_t WrapNegate(int64_t a) { return WrapMul(a, -1); }

uint64_t Magnitude(int64_t v) {
  return v < 0 ? -static_cast<uint64_t>(v) : static_cast<uint64_t>(v);
}

// Of magnitudes, since -INT64_MIN does not fit in int64_t. A gcd of 2^63 does not fit either, so
// 2^62 is returned, which is a common divisor too.
int64_t Gcd(int64_t a, int64_t b) {
  return static_cast<int64_t>(std::min(std::gcd(Magnitude(a), Magnitude(b)), uint64_t{1} << 62));
}

}  // namespace

AffineExpr AffineBuilder::Add(const AffineExpr& a, const AffineExpr& c, int64_t scale) const {
  AffineExpr sum;
  sum.constant = WrapAdd(a.constant, WrapMul(c.constant, scale));
  auto x = a.terms.begin();
  auto y = c.terms.begin();
  while (x != a.terms.end() || y != c.terms.end()) {
    if (y == c.terms.end() || (x != a.terms.end() && order_.Compare(x->node, y->node) < 0)) {
      sum.terms.push_back(*x++);
    } else if (x == a.terms.end() || y->node != x->node) {
      sum.terms.push_back({y->node, WrapMul(y->coef, scale)});
      ++y;
    } else {
      const int64_t k = WrapAdd(x->coef, WrapMul(y->coef, scale));
      if (k != 0) sum.terms.push_back({x->node, k});
      ++x, ++y;
    }
  }
  return sum;
}

AffineExpr AffineBuilder::Scale(const AffineExpr& a, int64_t factor) const {
  if (factor == 0) return AffineExpr();
  AffineExpr out = a;
  out.constant = WrapMul(out.constant, factor);
  for (auto& [term, k] : out.terms) k = WrapMul(k, factor);
  return out;
}

std::pair<int64_t, AffineExpr> AffineBuilder::Eliminate(const AffineExpr& a,
                                                        const AffineExpr& c) const {
  if (c.terms.empty()) return {0, a};
  const auto [term, by] = c.terms[0];
  for (const auto& [t, k] : a.terms) {
    if (t == term && k != INT64_MIN && k % by == 0) return {k / by, Add(a, c, -(k / by))};
  }
  return {0, a};
}

analysis::Interval AffineBuilder::BoundsOf(const AffineExpr& a) {
  if (a.terms.empty()) return analysis::Interval::Point(a.constant);
  // Forms of neighbouring lanes usually differ only in their constants.
  if (a.terms != bounded_terms_) {
    bounds_of_terms_ = ComputeBounds({a.terms, 0});
    bounded_terms_ = a.terms;
  }
  analysis::Interval v = bounds_of_terms_;
  const bool shifts = (!v.HasLo() || !__builtin_add_overflow(v.lo, a.constant, &v.lo)) &&
                      (!v.HasHi() || !__builtin_add_overflow(v.hi, a.constant, &v.hi));
  return shifts ? v : ComputeBounds(a);
}

analysis::Interval AffineBuilder::ComputeBounds(const AffineExpr& a) {
  analysis::Interval v = analysis::IntervalOf(a, bounds_);
  for (const AffineExpr& clause : assumed_) {
    // clause <= -1
    const auto [scale, rest] = Eliminate(a, clause);
    if (scale == 0) continue;
    const analysis::Interval r = analysis::IntervalOf(rest, bounds_);
    int64_t bound = 0;
    if (scale > 0 && r.HasHi() && !__builtin_sub_overflow(r.hi, scale, &bound)) {
      v.hi = std::min(v.hi, bound);
    }
    if (scale < 0 && r.HasLo() && !__builtin_sub_overflow(r.lo, scale, &bound)) {
      v.lo = std::max(v.lo, bound);
    }
  }
  return v;
}

const AffineExpr* AffineBuilder::ClauseOf(const UOp* gate) const {
  const int at = clause_of_.Get(gate);
  return at ? &clauses_[static_cast<size_t>(at - 1)] : nullptr;
}

int64_t AffineBuilder::Divisor(const AffineExpr& a) {
  int64_t g = Gcd(0, a.constant);
  for (const auto& [term, k] : a.terms) {
    int64_t d = 0;
    g = Gcd(g, __builtin_mul_overflow(k, bounds_.KnownDivisor(term), &d) ? k : d);
  }
  return g;
}

std::pair<AffineExpr, AffineExpr> AffineBuilder::SplitMultiples(const AffineExpr& a,
                                                                int64_t d) const {
  AffineExpr multiple, rest;
  for (const auto& [term, k] : a.terms) {
    // A coefficient may be split: 10*x = 8*x + 2*x for d = 8. Truncation leaves coefficients of
    // either sign that are less than d in magnitude in `rest`.
    const int64_t q = k / d, r = k % d;
    if (q != 0) multiple.terms.push_back({term, q});
    if (r != 0) rest.terms.push_back({term, r});
  }
  multiple.constant = tg::FloorDiv(a.constant, d);
  rest.constant = tg::FloorMod(a.constant, d);
  return {multiple, rest};
}

std::optional<int64_t> AffineBuilder::OneQuotient(const AffineExpr& rest, int64_t d) {
  const analysis::Interval r = BoundsOf(rest);
  if (!r.HasLo() || !r.HasHi() || tg::FloorDiv(r.lo, d) != tg::FloorDiv(r.hi, d)) {
    return std::nullopt;
  }
  return tg::FloorDiv(r.lo, d);
}

AffineBuilder::Grain AffineBuilder::SplitGrain(const AffineExpr& a, int64_t d) {
  for (const auto& [term, k] : a.terms) {
    if (k == INT64_MIN) continue;
    const int64_t g = std::abs(k);
    if (g == 1 || d % g != 0) continue;
    auto [coarse, fine] = SplitMultiples(a, g);
    if (const auto q = OneQuotient(fine, g)) {
      coarse.constant = WrapAdd(coarse.constant, *q);
      fine.constant = WrapAdd(fine.constant, WrapMul(*q, -g));
      return {g, coarse, fine};
    }
  }
  return {};
}

AffineExpr AffineBuilder::FloorDiv(const AffineExpr& a, int64_t d) {
  if (d == 1) return a;
  auto [multiple, rest] = SplitMultiples(a, d);
  if (const auto q = OneQuotient(rest, d)) {
    multiple.constant = WrapAdd(multiple.constant, *q);
    return multiple;
  }
  // What the terms have in common divides out of the divisor: (4*x + 3) / 8 = x / 2.
  int64_t g = d;
  for (const auto& [term, k] : rest.terms) g = Gcd(g, k);
  if (g > 1) {
    for (auto& [term, k] : rest.terms) k /= g;
    rest.constant = tg::FloorDiv(rest.constant, g);
    return Add(multiple, FloorDiv(rest, d / g));
  }
  // Terms smaller than the grain of the rest do not matter: (4*x + y) / 8 = x / 2 for y in 0..3.
  if (const auto [grain, coarse, fine] = SplitGrain(rest, d); grain != 0) {
    return Add(multiple, FloorDiv(coarse, d / grain));
  }
  const UOp* term = b_.Alu(Op::kFloorDiv, {Build(rest), b_.Index(d)});
  return Add(multiple, AffineExpr::Of(term));
}

AffineExpr AffineBuilder::FloorMod(const AffineExpr& a, int64_t d) {
  if (d == 1) return AffineExpr();
  auto [multiple, rest] = SplitMultiples(a, d);
  if (const auto q = OneQuotient(rest, d)) {
    rest.constant = WrapAdd(rest.constant, WrapMul(*q, -d));
    return rest;
  }
  // (4*x + 3) % 8 = (x % 2) * 4 + 3
  int64_t g = d;
  for (const auto& [term, k] : rest.terms) g = Gcd(g, k);
  if (g > 1) {
    const int64_t low = tg::FloorMod(rest.constant, g);
    for (auto& [term, k] : rest.terms) k /= g;
    rest.constant = tg::FloorDiv(rest.constant, g);
    return Add(AffineExpr::Constant(low), FloorMod(rest, d / g), g);
  }
  // (4*x + y) % 8 = (x % 2) * 4 + y for y in 0..3
  if (const auto [grain, coarse, fine] = SplitGrain(rest, d); grain != 0) {
    return Add(fine, FloorMod(coarse, d / grain), grain);
  }
  return AffineExpr::Of(b_.Alu(Op::kFloorMod, {Build(rest), b_.Index(d)}));
}

const UOp* AffineBuilder::BuildTerms(AffineExpr::Terms terms) {
  // The same order as in simplify's sums, so that equal sums are one node: among terms of equal
  // rank the greater coefficient comes first.
  std::stable_sort(terms.begin(), terms.end(), [&](const auto& x, const auto& y) {
    const int64_t rank_x = order_.Rank(x.node), rank_y = order_.Rank(y.node);
    return rank_x != rank_y ? rank_x < rank_y : Magnitude(x.coef) > Magnitude(y.coef);
  });
  const UOp* sum = nullptr;
  for (const auto& [term, k] : terms) {
    const UOp* x = k == 1 ? term : b_.Mul(term, b_.Index(k));
    sum = sum ? b_.Add(sum, x) : x;
  }
  return sum;
}

const UOp* AffineBuilder::Build(const AffineExpr& a) {
  if (a.terms.empty()) return b_.Index(a.constant);
  if (a.terms != last_terms_) {
    last_sum_ = BuildTerms(a.terms);
    last_terms_ = a.terms;
  }
  return a.constant == 0 ? last_sum_ : b_.Add(last_sum_, b_.Index(a.constant));
}

AffineExpr AffineBuilder::FormOf(const UOp* u) const {
  std::optional<AffineExpr> form = analysis::ParseAffine(u);
  if (!form) return AffineExpr::Of(u);
  llvm::sort(form->terms, [&](const AffineExpr::Term& a, const AffineExpr::Term& c) {
    return order_.Compare(a.node, c.node) < 0;
  });
  return *std::move(form);
}

const UOp* AffineBuilder::Less(const AffineExpr& a, const AffineExpr& c) {
  AffineExpr d = Add(a, c, -1);  // d < 0
  const analysis::Interval bounds = BoundsOf(d);
  if (bounds.hi < 0) return b_.Bool(true);
  if (bounds.lo >= 0) return b_.Bool(false);
  // g*t + k < 0  <=>  t < ceil(-k / g) = -floor(k / g)
  int64_t g = 0;
  for (const auto& [term, k] : d.terms) g = Gcd(g, k);
  AffineExpr left, right;
  for (const auto& [term, k] : d.terms) {
    if (k > 0) left.terms.push_back({term, k / g});
    if (k < 0) right.terms.push_back({term, WrapNegate(k / g)});
  }
  const int64_t floor = tg::FloorDiv(d.constant, g);
  if (left.terms.empty()) {
    left.constant = floor;
  } else {
    right.constant = WrapNegate(floor);
  }
  const UOp* less = b_.Lt(Build(left), Build(right));
  if (!clause_of_.Get(less)) {
    clauses_.push_back(d);
    clause_of_[less] = static_cast<int>(clauses_.size());
  }
  return less;
}

const UOp* AffineBuilder::NotEqual(const AffineExpr& a, const AffineExpr& c) {
  AffineExpr d = Add(a, c, -1);
  const analysis::Interval bounds = BoundsOf(d);
  if (d.is_constant()) return b_.Bool(d.constant != 0);
  if (bounds.hi < 0 || bounds.lo > 0) return b_.Bool(true);
  int64_t g = 0;
  for (const auto& [term, k] : d.terms) g = Gcd(g, k);
  if (d.constant % g != 0) return b_.Bool(true);
  AffineExpr left, right;
  for (const auto& [term, k] : d.terms) {
    if (k > 0) left.terms.push_back({term, k / g});
    if (k < 0) right.terms.push_back({term, WrapNegate(k / g)});
  }
  (left.terms.empty() ? left.constant : right.constant) =
      left.terms.empty() ? d.constant / g : WrapNegate(d.constant / g);
  return b_.Alu(Op::kCmpNe, {Build(left), Build(right)});
}

}  // namespace tg::devectorize
