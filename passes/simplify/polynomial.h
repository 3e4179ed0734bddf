// Polynomials in index expressions, for proofs and divisions in which extents are not constant. An
// atom is any node that is no sum, difference, negation, product or constant: a variable, a range,
// a quotient.
#ifndef TG_PASSES_SIMPLIFY_POLYNOMIAL_H_
#define TG_PASSES_SIMPLIFY_POLYNOMIAL_H_

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "ir/context.h"
#include "ir/uop.h"
#include "passes/analysis/bounds.h"

namespace tg::simplify {

class Polynomial {
 public:
  using Monomial = std::vector<const UOp*>;  // atoms in the order of their ids; empty: the constant

  static Polynomial Constant(int64_t value);
  // The polynomial of a scalar index. nullopt if it has too many monomials or too high a degree, or
  // if a number overflows; the same holds for the operations below.
  static std::optional<Polynomial> Of(const UOp* u);

  size_t size() const { return terms_.size(); }
  bool is_zero() const { return terms_.empty(); }

  std::optional<Polynomial> Plus(const Polynomial& other, int64_t factor) const;
  std::optional<Polynomial> Times(const Polynomial& other) const;

  // Quotient and remainder, *this = quotient * divisor + remainder, by polynomial division: no
  // monomial of the remainder is a multiple of the divisor's leading one.
  std::optional<std::pair<Polynomial, Polynomial>> DividedBy(const Polynomial& divisor) const;

  // Whether the value is at least 0 wherever the atoms have a value: a range is below its end, also
  // where that is no constant. False if that cannot be proven.
  bool IsNonNegative(analysis::Bounds& bounds) const;
  // The same where none of `facts` is negative: whether a multiple of one, or nothing, can be
  // subtracted so that the rest is at least 0.
  bool IsNonNegative(analysis::Bounds& bounds, std::span<const Polynomial> facts) const;

  // The sum of products as nodes, not simplified.
  const UOp* Build(Context& ctx) const;

 private:
  // By falling degree, then lexicographically by ids; an order that multiplication preserves.
  struct Leading {
    bool operator()(const Monomial& a, const Monomial& b) const;
  };
  using Terms = std::map<Monomial, int64_t, Leading>;  // no coefficient is 0

  bool Add(const Monomial& monomial, int64_t coefficient);
  // *this = first * atom + second, where neither has the atom; nullopt if its degree is above 1.
  std::optional<std::pair<Polynomial, Polynomial>> SplitAt(const UOp* atom) const;
  // An interval of the value, from intervals of the atoms alone.
  analysis::Interval Range(analysis::Bounds& bounds) const;
  // Steps of IsNonNegative: a polynomial without ids, whose value is the least that this one has
  // over the ids' values, or less; a proof by the atoms' bounds; and a polynomial that is negative
  // wherever this one is, and lacks a quotient that this one has. nullopt: there is none.
  std::optional<Polynomial> LeastOverIds(analysis::Bounds& bounds) const;
  bool IsNonNegativeTermByTerm(analysis::Bounds& bounds) const;
  std::optional<Polynomial> TimesDivisor(analysis::Bounds& bounds) const;
  // The value for `atom` = atom + offset.
  std::optional<Polynomial> Shifted(const UOp* atom, int64_t offset) const;

  Terms terms_;
};

}  // namespace tg::simplify

#endif  // TG_PASSES_SIMPLIFY_POLYNOMIAL_H_
