// AffineAddress: an index as an affine expression, coefficient * term + ... + constant, so that
// addresses that differ by a constant are recognized. A term is a scalar index node that is neither
// a sum nor a multiple of another node.
//
// Forms are canonical: the terms are in structural order (outer before inner, so that a prefix of
// the sum changes least often), and no coefficient is zero. Equal forms have equal values, and
// because nodes are unique, they build the same node. Rearranging is exact because `index` does not
// overflow.
#ifndef TG_PASSES_DEVECTORIZE_AFFINE_ADDRESS_H_
#define TG_PASSES_DEVECTORIZE_AFFINE_ADDRESS_H_

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

namespace tg::devectorize {

struct AffineAddress {
  using Terms = llvm::SmallVector<std::pair<const UOp*, int64_t>, 4>;
  Terms terms;
  int64_t constant = 0;

  static AffineAddress Constant(int64_t c) { return {{}, c}; }
  static AffineAddress Term(const UOp* u) { return {{{u, 1}}, 0}; }
  bool is_constant() const { return terms.empty(); }
  // Adds a constant. It may wrap, which happens only for indices that are out of bounds.
  void Advance(int64_t by) {
    constant = static_cast<int64_t>(static_cast<uint64_t>(constant) + static_cast<uint64_t>(by));
  }
  friend bool operator==(const AffineAddress& a, const AffineAddress& b) {
    return a.constant == b.constant && a.terms == b.terms;
  }
};

class AffineBuilder {
 public:
  // `module` declares the variables.
  AffineBuilder(Builder& b, const Module& module)
      : b_(b), bounds_(b.context(), &module), order_(b.context()) {}

  // a + scale * c
  AffineAddress Add(const AffineAddress& a, const AffineAddress& c, int64_t scale = 1) const;
  AffineAddress Scale(const AffineAddress& a, int64_t factor) const;
  // Floor division by d > 0, and its remainder. A quotient that is not affine becomes a new term.
  AffineAddress FloorDiv(const AffineAddress& a, int64_t d);
  AffineAddress FloorMod(const AffineAddress& a, int64_t d);

  // The node of a form; the constant is added last. Caches the sum of the terms, because successive
  // forms often share them.
  const UOp* Build(const AffineAddress& a);
  // The form of a scalar node: sums and products with constants are expanded, any other node is a
  // term.
  AffineAddress FormOf(const UOp* u) const;
  // The nodes a < c and a != c: a constant if bounds decide it, else in a canonical form that many
  // pairs share, since (i*8 + 3 < n*8) is (i < n).
  const UOp* Less(const AffineAddress& a, const AffineAddress& c);
  const UOp* NotEqual(const AffineAddress& a, const AffineAddress& c);

  analysis::Interval BoundsOf(const AffineAddress& a);
  // For a `gate` that Less returned: a form that is negative if and only if the gate holds. Null
  // for other gates.
  const AffineAddress* ClauseOf(const UOp* gate) const;
  // From now on, BoundsOf assumes that all of these forms are negative, instead of those before.
  void Assume(std::vector<AffineAddress> clauses) {
    assumed_ = std::move(clauses);
    bounded_terms_.clear();
  }
  // (scale, rest) with a = scale * c + rest, such that c's first term does not occur in `rest`;
  // scale 0 if there is no such integer.
  std::pair<int64_t, AffineAddress> Eliminate(const AffineAddress& a, const AffineAddress& c) const;
  // The greatest number that is known to divide the form's value; 0 for the constant 0.
  int64_t Divisor(const AffineAddress& a);

 private:
  // The node of the sum of the terms; null if there are none.
  const UOp* BuildTerms(AffineAddress::Terms terms);
  // (first, second) with a = d * first + second, where the coefficients of `second` are less than d
  // in magnitude and its constant is in 0..d-1.
  std::pair<AffineAddress, AffineAddress> SplitMultiples(const AffineAddress& a, int64_t d) const;
  analysis::Interval ComputeBounds(const AffineAddress& a);
  analysis::Interval BoundsWithoutAssumptions(const AffineAddress& a);
  analysis::Interval BoundsOfTerms(const AffineAddress& a);
  // a = coarse * size + fine with fine in 0..size-1, for a size > 1 that divides d; size 0: none.
  struct Grain {
    int64_t size = 0;
    AffineAddress coarse, fine;
  };
  Grain SplitGrain(const AffineAddress& a, int64_t d);
  // The quotient of `rest` by d, if its bounds determine it.
  std::optional<int64_t> OneQuotient(const AffineAddress& rest, int64_t d);

  Builder& b_;
  analysis::Bounds bounds_;
  mutable analysis::StructuralOrder order_;  // a cache
  AffineAddress::Terms last_terms_;          // the terms of the last Build
  const UOp* last_sum_ = nullptr;            // the node of their sum
  AffineAddress::Terms bounded_terms_;       // the terms of the last BoundsOf
  analysis::Interval bounds_of_terms_;       // the bounds of their sum
  std::vector<AffineAddress> assumed_;
  NodeMap<int> clause_of_;  // 1 + the position in clauses_
  std::vector<AffineAddress> clauses_;
};

}  // namespace tg::devectorize

#endif  // TG_PASSES_DEVECTORIZE_AFFINE_ADDRESS_H_
