// Linear: an index as an affine expression, so that addresses that differ by a constant are
// recognized. A term is a scalar index node that is neither a sum nor a multiple of another node.
//
// Forms are canonical: the terms are in structural order (outer before inner, so that a prefix of
// the sum changes least often), and no coefficient is zero. Equal forms have equal values, and
// because nodes are unique, they build the same node. Rearranging is exact because `index` does not
// overflow.
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
  // Adds a constant. The sum may wrap, but no index that is in bounds does.
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
  // Floor division by d > 0, and its remainder. Exact: an unknown quotient becomes a term.
  Linear FloorDiv(const Linear& a, int64_t d);
  Linear FloorMod(const Linear& a, int64_t d);

  // The node of a form; the constant is added last. Caches the sum of the terms, because successive
  // forms often share them.
  const UOp* Build(const Linear& a);
  // The form of a scalar node: sums and multiples are expanded, any other node is a term.
  Linear FormOf(const UOp* u) const;
  // a < c and a != c, in a form that many pairs share: (i*8 + 3 < n*8) is (i < n).
  const UOp* Less(const Linear& a, const Linear& c);
  const UOp* NotEqual(const Linear& a, const Linear& c);

  Interval BoundsOf(const Linear& a);
  // For a `gate` that Less created: the form that is negative if and only if the gate holds. Null
  // for other gates.
  const Linear* ClauseOf(const UOp* gate) const;
  // Assumes from now on that all of these forms are negative.
  void Assume(std::vector<Linear> clauses) {
    assumed_ = std::move(clauses);
    bounded_terms_.clear();
  }
  // a = scale * c + rest, with the scale that eliminates c's first term; scale 0 if there is none.
  std::pair<int64_t, Linear> Eliminate(const Linear& a, const Linear& c) const;
  // The greatest known number that divides the form's value; 0 for the constant 0.
  int64_t Divisor(const Linear& a);

 private:
  // The node of the sum of the terms; null if there are none.
  const UOp* BuildTerms(Linear::Terms terms);
  // a = d * first + second, where the constant of `second` is in 0..d-1.
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
  // The quotient of `rest` by d, if its bounds determine it.
  std::optional<int64_t> OneQuotient(const Linear& rest, int64_t d);

  Builder& b_;
  Bounds bounds_;
  mutable StructuralOrder order_;  // a cache
  Linear::Terms last_terms_;       // the terms of the last Build
  const UOp* last_sum_ = nullptr;  // the node of their sum
  Linear::Terms bounded_terms_;    // the terms of the last BoundsOf
  Interval bounds_of_terms_;       // the bounds of their sum
  std::vector<Linear> assumed_;
  NodeMap<int> clause_of_;  // 1 + the position in clauses_
  std::vector<Linear> clauses_;
};

}  // namespace tg

#endif  // TG_PASSES_DEVECTORIZE_LINEAR_H_
