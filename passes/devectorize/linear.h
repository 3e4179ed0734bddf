// Linear: an index as coefficients of terms plus a constant, so that addresses that differ by a
// number are seen to. A term is a scalar index node that is no sum and no multiple of another.
//
// Forms are canonical: terms in structural order (outer before inner, so that the first part of a
// sum is what changes least), no zero coefficient. Equal forms are equal values; uniquing makes the
// nodes built from them equal too. `index` does not overflow, which is what makes rearranging
// exact.
#ifndef TG_PASSES_DEVECTORIZE_LINEAR_H_
#define TG_PASSES_DEVECTORIZE_LINEAR_H_

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "ir/builder.h"
#include "ir/module.h"
#include "ir/walk.h"
#include "llvm/ADT/SmallVector.h"
#include "passes/analysis/bounds.h"
#include "passes/analysis/order.h"

namespace tg {

struct Linear {
  using Terms = llvm::SmallVector<std::pair<const UOp*, int64_t>, 4>;
  Terms terms;
  int64_t constant = 0;

  static Linear Constant(int64_t c) { return {{}, c}; }
  static Linear Term(const UOp* u) { return {{{u, 1}}, 0}; }
  bool is_constant() const { return terms.empty(); }
  // Adds a number; wraps around, which no index in bounds does.
  void Advance(int64_t by) {
    constant = static_cast<int64_t>(static_cast<uint64_t>(constant) + static_cast<uint64_t>(by));
  }
  friend bool operator==(const Linear& a, const Linear& b) {
    return a.constant == b.constant && a.terms == b.terms;
  }
};

class LinearBuilder {
 public:
  // `module` declares the variables.
  LinearBuilder(Builder& b, const Module& module)
      : b_(b), bounds_(b.context(), &module), order_(b.context()) {}

  // a + scale * c
  Linear Add(const Linear& a, const Linear& c, int64_t scale = 1) const;
  Linear Scale(const Linear& a, int64_t factor) const;
  // Floor division by d > 0, and its remainder; exact, as a term where nothing is known.
  Linear FloorDiv(const Linear& a, int64_t d);
  Linear FloorMod(const Linear& a, int64_t d);

  // The node of a form; its constant is added last. The terms of one form after the other are
  // often the same.
  const UOp* Build(const Linear& a);
  // The form of a scalar node: sums and multiples are taken apart, all else is a term.
  Linear FormOf(const UOp* u) const;
  // a < c and a != c, in a form that many pairs share: (i*8 + 3 < n*8) is (i < n).
  const UOp* Less(const Linear& a, const Linear& c);
  const UOp* NotEqual(const Linear& a, const Linear& c);

  Interval BoundsOf(const Linear& a);
  // What Less made `gate` of: a form that is negative exactly where the gate holds; null where it
  // was not made so.
  const Linear* ClauseOf(const UOp* gate) const;
  // From now on forms are only looked at where all of these are negative.
  void Assume(std::vector<Linear> clauses) {
    assumed_ = std::move(clauses);
    bounded_terms_.clear();
  }
  // a = scale * c + rest, for the scale at which c's first term goes away; 0 where there is none.
  std::pair<int64_t, Linear> Eliminate(const Linear& a, const Linear& c) const;
  // The greatest known number that divides the form's value; 0 for the constant 0.
  int64_t Divisor(const Linear& a);

 private:
  // Null without terms.
  const UOp* BuildTerms(Linear::Terms terms);
  // Splits a into a multiple of d (divided by d already) and the rest, whose constant is in 0..d-1.
  std::pair<Linear, Linear> SplitMultiples(const Linear& a, int64_t d) const;
  Interval ComputeBounds(const Linear& a);
  Interval BoundsWithoutAssumptions(const Linear& a);
  Interval BoundsOfTerms(const Linear& a);
  // a = coarse * size + fine with fine in 0..size-1, for a size > 1 that divides d; size 0: none.
  struct Grain {
    int64_t size = 0;
    Linear coarse, fine;
  };
  Grain SplitGrain(const Linear& a, int64_t d);
  // The quotient by d that the whole of `rest` has, if there is one.
  std::optional<int64_t> OneQuotient(const Linear& rest, int64_t d);

  Builder& b_;
  Bounds bounds_;
  mutable StructuralOrder order_;  // a cache
  Linear::Terms last_terms_;       // what Build was last asked for
  const UOp* last_sum_ = nullptr;  // their sum
  Linear::Terms bounded_terms_;    // what BoundsOf was last asked for
  Interval bounds_of_terms_;       // of their sum
  std::vector<Linear> assumed_;
  NodeMap<int> clause_of_;  // 1 + its place in clauses_
  std::vector<Linear> clauses_;
};

}  // namespace tg

#endif  // TG_PASSES_DEVECTORIZE_LINEAR_H_
