#include "passes/simplify/polynomial.h"

#include <algorithm>

#include "ir/walk.h"
#include "llvm/ADT/STLExtras.h"
#include "passes/analysis/interval.h"
#include "passes/rewrite/build.h"

namespace tg::simplify {
namespace {

constexpr size_t kMaxMonomials = 48;
constexpr size_t kMaxDegree = 6;
constexpr int kMaxDepth = 16;  // of sums in products and products in sums
constexpr size_t kMaxQuotients = 8;

bool UOpIdLess(const UOp* a, const UOp* b) { return a->id < b->id; }

bool HasId(const UOp* u) {
  return llvm::any_of(PostOrder(u), [](const UOp* part) {
    return part->op == Op::kRange || part->op == Op::kSpecial || part->op == Op::kUnroll;
  });
}

// The greatest value of an atom that is at least 0; nullopt if nothing is known but its interval.
std::optional<Polynomial> LastOf(const UOp* atom, analysis::Bounds& bounds) {
  const UOp* end = nullptr;
  switch (atom->op) {
    case Op::kRange:
    case Op::kSpecial:
      end = atom->src(0);
      break;
    case Op::kUnroll:
      return Polynomial::Constant(atom->word(1) - 1);
    case Op::kFloorMod:
      if (bounds.Min(atom->src(1)) > 0) end = atom->src(1);
      break;
    case Op::kMin:  // an id that is kept within an extent
      if (bounds.Min(atom) < 0) break;
      for (const UOp* side : atom->srcs()) {
        if (!HasId(side)) return Polynomial::Of(side);
      }
      break;
    default:
      break;
  }
  const std::optional<Polynomial> above = end ? Polynomial::Of(end) : std::nullopt;
  return above ? above->Plus(Polynomial::Constant(1), -1) : std::nullopt;
}

}  // namespace

bool Polynomial::Leading::operator()(const Monomial& a, const Monomial& b) const {
  if (a.size() != b.size()) return a.size() > b.size();
  return std::lexicographical_compare(a.begin(), a.end(), b.begin(), b.end(), UOpIdLess);
}

Polynomial Polynomial::Constant(int64_t value) {
  Polynomial p;
  if (value != 0) p.terms_[{}] = value;
  return p;
}

bool Polynomial::Add(const Monomial& monomial, int64_t coefficient) {
  if (coefficient == 0) return true;
  if (monomial.size() > kMaxDegree) return false;
  const auto [at, is_new] = terms_.try_emplace(monomial, coefficient);
  if (!is_new) {
    if (__builtin_add_overflow(at->second, coefficient, &at->second)) return false;
    if (at->second == 0) terms_.erase(at);
  }
  return terms_.size() <= kMaxMonomials;
}

std::optional<Polynomial> Polynomial::Plus(const Polynomial& other, int64_t factor) const {
  Polynomial sum = *this;
  for (const auto& [monomial, coefficient] : other.terms_) {
    int64_t scaled = 0;
    if (__builtin_mul_overflow(coefficient, factor, &scaled) || !sum.Add(monomial, scaled)) {
      return std::nullopt;
    }
  }
  return sum;
}

std::optional<Polynomial> Polynomial::Times(const Polynomial& other) const {
  Polynomial product;
  for (const auto& [a, x] : terms_) {
    for (const auto& [b, y] : other.terms_) {
      Monomial both;
      std::merge(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(both), UOpIdLess);
      int64_t coefficient = 0;
      if (__builtin_mul_overflow(x, y, &coefficient) || !product.Add(both, coefficient)) {
        return std::nullopt;
      }
    }
  }
  return product;
}

namespace {

std::optional<Polynomial> Parse(const UOp* u, int depth);

std::optional<Polynomial> ParseProduct(const UOp* u, int depth) {
  const std::optional<Polynomial> a = Parse(u->src(0), depth - 1);
  const std::optional<Polynomial> b = a ? Parse(u->src(1), depth - 1) : std::nullopt;
  return b ? a->Times(*b) : std::nullopt;
}

// Sums are chains along their first operands, so that only products in sums and sums in products
// are nested, at most `depth` deep.
std::optional<Polynomial> Parse(const UOp* u, int depth) {
  if (depth == 0) return std::nullopt;
  std::optional<Polynomial> sum = Polynomial::Constant(0);
  int64_t sign = 1;
  for (size_t steps = 0; sum && steps <= 2 * kMaxMonomials; ++steps) {
    if (u->op == Op::kAdd || u->op == Op::kSub) {
      const std::optional<Polynomial> term = Parse(u->src(1), depth - 1);
      if (!term) return std::nullopt;
      sum = sum->Plus(*term, u->op == Op::kAdd ? sign : -sign);
      u = u->src(0);
      continue;
    }
    if (u->op == Op::kNeg) {
      sign = -sign;
      u = u->src(0);
      continue;
    }
    const std::optional<Polynomial> last =
        u->op == Op::kMul ? ParseProduct(u, depth) : Polynomial::Of(u);
    return last ? sum->Plus(*last, sign) : std::nullopt;
  }
  return std::nullopt;
}

}  // namespace

std::optional<Polynomial> Polynomial::Of(const UOp* u) {
  if (u->dtype != kIndex) return std::nullopt;
  switch (u->op) {
    case Op::kConst:
      return Constant(u->word());
    case Op::kAdd:
    case Op::kSub:
    case Op::kNeg:
    case Op::kMul:
      return Parse(u, kMaxDepth);
    default: {
      Polynomial p;
      p.terms_[{u}] = 1;
      return p;
    }
  }
}

std::optional<std::pair<Polynomial, Polynomial>> Polynomial::DividedBy(
    const Polynomial& divisor) const {
  if (divisor.is_zero()) return std::nullopt;
  const auto& [lead, unit] = *divisor.terms_.begin();
  Polynomial quotient, rest = *this;
  for (size_t steps = 0; steps <= 4 * kMaxMonomials; ++steps) {
    const auto found = std::find_if(rest.terms_.begin(), rest.terms_.end(), [&](const auto& term) {
      return term.second % unit == 0 && std::includes(term.first.begin(), term.first.end(),
                                                      lead.begin(), lead.end(), UOpIdLess);
    });
    if (found == rest.terms_.end()) return std::pair(std::move(quotient), std::move(rest));
    Monomial factor;
    std::set_difference(found->first.begin(), found->first.end(), lead.begin(), lead.end(),
                        std::back_inserter(factor), UOpIdLess);
    Polynomial part;
    const int64_t coefficient = found->second / unit;
    part.terms_[factor] = coefficient;
    const std::optional<Polynomial> product = part.Times(divisor);
    std::optional<Polynomial> less = product ? rest.Plus(*product, -1) : std::nullopt;
    if (!less || !quotient.Add(factor, coefficient)) return std::nullopt;
    rest = *std::move(less);
  }
  return std::nullopt;
}

std::optional<std::pair<Polynomial, Polynomial>> Polynomial::SplitAt(const UOp* atom) const {
  Polynomial with, without;
  for (const auto& [monomial, coefficient] : terms_) {
    Monomial rest;
    for (const UOp* u : monomial) {
      if (u != atom) rest.push_back(u);
    }
    if (monomial.size() - rest.size() > 1) return std::nullopt;
    (rest.size() == monomial.size() ? without : with).terms_[std::move(rest)] = coefficient;
  }
  return std::pair(std::move(with), std::move(without));
}

analysis::Interval Polynomial::Range(analysis::Bounds& bounds) const {
  analysis::Interval sum = analysis::Interval::Point(0);
  for (const auto& [monomial, coefficient] : terms_) {
    analysis::Interval product = analysis::Interval::Point(coefficient);
    for (const UOp* u : monomial) {
      const analysis::Interval args[2] = {product, bounds.Of(u)};
      product = analysis::AluInterval(Op::kMul, Scalar::kIndex, args);
    }
    const analysis::Interval args[2] = {sum, product};
    sum = analysis::AluInterval(Op::kAdd, Scalar::kIndex, args);
  }
  return sum;
}

std::optional<Polynomial> Polynomial::Shifted(const UOp* atom, int64_t offset) const {
  Polynomial shift;
  shift.terms_[{atom}] = 1;
  if (!shift.Add({}, offset)) return std::nullopt;
  std::optional<Polynomial> sum = Constant(0);
  for (const auto& [monomial, coefficient] : terms_) {
    std::optional<Polynomial> product = Constant(coefficient);
    for (const UOp* u : monomial) {
      Polynomial factor;
      factor.terms_[{u}] = 1;
      product = product->Times(u == atom ? shift : factor);
      if (!product) return std::nullopt;
    }
    sum = sum->Plus(*product, 1);
    if (!sum) return std::nullopt;
  }
  return sum;
}

bool Polynomial::IsNonNegative(analysis::Bounds& bounds) const {
  std::optional<Polynomial> p = *this;
  for (size_t quotients = 0; quotients <= kMaxQuotients; ++quotients) {
    p = p->LeastOverIds(bounds);
    if (!p) return false;
    if (p->IsNonNegativeTermByTerm(bounds)) return true;
    p = p->TimesDivisor(bounds);
    if (!p) return false;
  }
  return false;
}

bool Polynomial::IsNonNegative(analysis::Bounds& bounds, std::span<const Polynomial> facts) const {
  if (IsNonNegative(bounds)) return true;
  return llvm::any_of(facts, [&](const Polynomial& fact) {
    std::optional<Polynomial> rest = Plus(fact, -1);
    if (rest && rest->IsNonNegative(bounds)) return true;
    // The multiple that takes one of the monomials away.
    for (const auto& [monomial, coefficient] : fact.terms_) {
      const auto here = terms_.find(monomial);
      if (here == terms_.end() || monomial.empty() || here->second % coefficient != 0) continue;
      const int64_t factor = here->second / coefficient;
      if (factor < 2) continue;
      rest = Plus(fact, -factor);
      if (rest && rest->IsNonNegative(bounds)) return true;
    }
    const auto divided = DividedBy(fact);
    if (!divided || divided->first.is_zero() || divided->first.Range(bounds).lo < 0) return false;
    return divided->second.IsNonNegative(bounds);
  });
}

std::optional<Polynomial> Polynomial::LeastOverIds(analysis::Bounds& bounds) const {
  Polynomial p = *this;
  // A polynomial that is linear in an atom is least at one of the atom's ends.
  for (size_t steps = 0; steps <= kMaxMonomials; ++steps) {
    const UOp* atom = nullptr;
    std::optional<Polynomial> last;
    for (const auto& [monomial, coefficient] : p.terms_) {
      for (const UOp* u : monomial) {
        // Of nested atoms the latest node first, since its limit may have the others.
        if (atom && u->id <= atom->id) continue;
        if (std::optional<Polynomial> its = LastOf(u, bounds)) {
          atom = u;
          last = std::move(its);
        }
      }
    }
    if (!atom) return p;
    const auto parts = p.SplitAt(atom);
    if (!parts) return std::nullopt;
    const analysis::Interval slope = parts->first.Range(bounds);
    if (slope.lo >= 0) {
      p = parts->second;
      continue;
    }
    if (slope.hi > 0) return std::nullopt;
    const std::optional<Polynomial> least = last->Times(parts->first);
    std::optional<Polynomial> sum = least ? least->Plus(parts->second, 1) : std::nullopt;
    if (!sum) return std::nullopt;
    p = *std::move(sum);
  }
  return p;
}

bool Polynomial::IsNonNegativeTermByTerm(analysis::Bounds& bounds) const {
  Polynomial p = *this;
  if (p.Range(bounds).lo >= 0) return true;
  // With each atom counted from its least value, a sum without negative terms is not negative.
  std::vector<const UOp*> atoms;
  for (const auto& [monomial, coefficient] : p.terms_) {
    atoms.insert(atoms.end(), monomial.begin(), monomial.end());
  }
  std::sort(atoms.begin(), atoms.end(), UOpIdLess);
  atoms.erase(std::unique(atoms.begin(), atoms.end()), atoms.end());
  for (const UOp* atom : atoms) {
    if (LastOf(atom, bounds) || !bounds.Of(atom).HasLo()) return false;
    std::optional<Polynomial> shifted = p.Shifted(atom, bounds.Min(atom));
    if (!shifted) return false;
    p = *std::move(shifted);
  }
  return std::all_of(p.terms_.begin(), p.terms_.end(), [](const auto& t) { return t.second > 0; });
}

std::optional<Polynomial> Polynomial::TimesDivisor(analysis::Bounds& bounds) const {
  const UOp* quotient = nullptr;
  for (const auto& [monomial, coefficient] : terms_) {
    for (const UOp* u : monomial) {
      const bool divides = u->op == Op::kFloorDiv && IsConst(u->src(1)) && u->src(1)->word() > 0;
      // As in LeastOverIds, the latest node first.
      if (divides && (!quotient || u->id > quotient->id)) quotient = u;
    }
  }
  if (!quotient) return std::nullopt;
  const int64_t divisor = quotient->src(1)->word();
  const auto parts = SplitAt(quotient);
  std::optional<Polynomial> end = Of(quotient->src(0));
  if (!parts || !end) return std::nullopt;
  // divisor * quotient is at most the dividend, and at least the dividend - (divisor - 1).
  const analysis::Interval slope = parts->first.Range(bounds);
  if (slope.lo >= 0) {
    end = end->Plus(Constant(divisor - 1), -1);
  } else if (slope.hi > 0) {
    return std::nullopt;
  }
  const std::optional<Polynomial> least = end ? end->Times(parts->first) : std::nullopt;
  const std::optional<Polynomial> sum = least ? least->Plus(parts->second, divisor) : std::nullopt;
  // An integer is not negative if divisor times it is above -divisor.
  return sum ? sum->Plus(Constant(divisor - 1), 1) : std::nullopt;
}

const UOp* Polynomial::Build(Context& ctx) const {
  const UOp* sum = nullptr;
  for (const auto& [monomial, coefficient] : terms_) {
    const UOp* product = nullptr;
    for (const UOp* u : monomial) {
      product = product ? ctx.Make(Op::kMul, kIndex, {product, u}) : u;
    }
    const UOp* number = rewrite::UniformConst(ctx, kIndex, coefficient);
    if (!product) {
      product = number;
    } else if (coefficient != 1) {
      product = ctx.Make(Op::kMul, kIndex, {product, number});
    }
    sum = sum ? ctx.Make(Op::kAdd, kIndex, {sum, product}) : product;
  }
  return sum ? sum : rewrite::UniformConst(ctx, kIndex, 0);
}

}  // namespace tg::simplify
