#include "passes/analysis/affine.h"

#include <algorithm>

#include "ir/value.h"
#include "llvm/ADT/STLExtras.h"

namespace tg::analysis {
namespace {

using Wide = __int128;

bool Narrow(const DType& t, Wide v, int64_t* out) {
  if (t.is_index()) {
    if (v < INT64_MIN || v > INT64_MAX) return false;
    *out = static_cast<int64_t>(v);
  } else {
    *out = WrapInt(t.scalar(), static_cast<int64_t>(static_cast<unsigned __int128>(v)));
  }
  return true;
}

// Adds coef * v to one end of an interval. False, and then the end is `none`, if `v` is no bound
// or a number overflows.
bool AddProduct(int64_t& end, int64_t coef, int64_t v, bool is_bound, int64_t none) {
  int64_t product;
  const bool adds = is_bound && !__builtin_mul_overflow(coef, v, &product) &&
                    !__builtin_add_overflow(end, product, &end);
  if (!adds) end = none;
  return adds;
}

// From the intervals of the terms alone.
Interval RangeOfTerms(const AffineExpr& sum, Bounds& bounds) {
  Interval range = Interval::Point(sum.constant);
  bool has_lo = true, has_hi = true;
  for (const AffineExpr::Term& t : sum.terms) {
    const Interval of = bounds.Of(t.node);
    const bool up = t.coef > 0;
    const int64_t least = up ? of.lo : of.hi, most = up ? of.hi : of.lo;
    const bool is_least = up ? of.HasLo() : of.HasHi(), is_most = up ? of.HasHi() : of.HasLo();
    has_lo = has_lo && AddProduct(range.lo, t.coef, least, is_least, INT64_MIN);
    has_hi = has_hi && AddProduct(range.hi, t.coef, most, is_most, INT64_MAX);
  }
  return range;
}

// The bound of `sum` that a limit of one of its terms gives:
// factor * node + offset <= limit, so that k * factor * node <= k * (limit - offset) for k > 0.
Interval RangeByLimit(const AffineExpr& sum, const AffineExpr::Term& term, const RangeLimit& of_it,
                      Bounds& bounds) {
  if (term.coef % of_it.factor != 0) return {};
  const int64_t times = term.coef / of_it.factor;
  AffineExpr other = sum;
  other.terms.erase(other.terms.begin() + (&term - sum.terms.begin()));
  int64_t offset = 0;
  if (__builtin_mul_overflow(times, of_it.offset, &offset) || offset == INT64_MIN ||
      !other.AddConstant(-offset) || !other.Add(of_it.limit, times)) {
    return {};
  }
  const Interval bound = RangeOfTerms(other, bounds);
  return term.coef > 0 ? Interval{INT64_MIN, bound.hi} : Interval{bound.lo, INT64_MAX};
}

}  // namespace

int64_t AffineExpr::CoefOf(const UOp* node) const {
  for (const Term& t : terms) {
    if (t.node == node) return t.coef;
  }
  return 0;
}

int64_t AffineExpr::Take(const UOp* node) {
  const int64_t coef = CoefOf(node);
  if (coef != 0) terms.erase(llvm::find_if(terms, [&](const Term& t) { return t.node == node; }));
  return coef;
}

std::optional<int64_t> AffineExpr::Product(int64_t a, int64_t b) const {
  int64_t product;
  if (!Narrow(type, Wide{a} * b, &product)) return std::nullopt;
  return product;
}

bool AffineExpr::AddConstant(int64_t v) { return Narrow(type, Wide{constant} + v, &constant); }

bool AffineExpr::AddTerm(const UOp* node, int64_t coef) {
  if (coef == 0) return true;
  for (Term& t : terms) {
    if (t.node != node) continue;
    if (!Narrow(type, Wide{t.coef} + coef, &t.coef)) return false;
    if (t.coef == 0) terms.erase(&t);
    return true;
  }
  if (terms.size() == kMaxTerms) return false;
  terms.push_back({node, coef});
  return true;
}

bool AffineExpr::Scale(int64_t factor) {
  for (Term& t : terms) {
    if (!Narrow(type, Wide{t.coef} * factor, &t.coef)) return false;
  }
  terms.erase(std::remove_if(terms.begin(), terms.end(), [](const Term& t) { return t.coef == 0; }),
              terms.end());
  return Narrow(type, Wide{constant} * factor, &constant);
}

bool AffineExpr::Add(const UOp* root, int64_t root_coef) {
  llvm::SmallVector<Term, 16> stack = {{root, root_coef}};
  size_t steps = 0;
  while (!stack.empty()) {
    if (++steps > 4 * kMaxTerms) return false;
    const auto [u, coef] = stack.pop_back_val();
    int64_t product;
    if (const auto bits = UniformBits(u)) {
      if (!Narrow(type, Wide{*bits} * coef, &product) || !AddConstant(product)) return false;
      continue;
    }
    if (u->op == Op::kAdd) {
      stack.push_back({u->src(1), coef});
      stack.push_back({u->src(0), coef});
      continue;
    }
    if (u->op == Op::kSub) {
      if (!Narrow(type, -Wide{coef}, &product)) return false;
      stack.push_back({u->src(1), product});
      stack.push_back({u->src(0), coef});
      continue;
    }
    if (u->op == Op::kMul) {
      const bool on_left = !UniformBits(u->src(1));
      const UOp* of = u->src(on_left);
      const auto factor = UniformBits(u->src(!on_left));
      // A product with a sum of wrapping integers stays one multiplication.
      if (factor && (type.is_index() || of->op != Op::kAdd)) {
        if (!Narrow(type, Wide{*factor} * coef, &product)) return false;
        if (product != 0) stack.push_back({of, product});
        continue;
      }
    }
    if (!AddTerm(u, coef)) return false;
  }
  return true;
}

std::optional<AffineExpr> ParseAffine(const UOp* u) {
  if (!u->dtype.is_int_or_index()) return std::nullopt;
  std::optional<AffineExpr> form = AffineExpr::Constant(0, u->dtype);
  if (!form->Add(u, 1)) form.reset();
  return form;
}

Interval IntervalOf(const AffineExpr& sum, Bounds& bounds) {
  Interval range = RangeOfTerms(sum, bounds);
  for (const AffineExpr::Term& t : sum.terms) {
    if (!sum.type.is_index()) break;
    if (const auto limit = LimitOf(t.node)) {
      range = Intersect(range, RangeByLimit(sum, t, *limit, bounds));
    }
  }
  return range;
}

}  // namespace tg::analysis
