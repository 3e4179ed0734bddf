// AffineBuilder: arithmetic on addresses as affine expressions (analysis/affine.h), and their
// nodes, so that addresses that differ by a constant are recognized.
//
// Its expressions are canonical: the terms are in structural order (outer before inner, so that a
// prefix of the sum changes least often). Equal expressions have equal values, and because nodes
// are unique, they build the same node. Rearranging is exact because `index` does not overflow.
#ifndef TG_PASSES_DEVECTORIZE_AFFINE_BUILDER_H_
#define TG_PASSES_DEVECTORIZE_AFFINE_BUILDER_H_

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "ir/builder.h"
#include "ir/module.h"
#include "ir/walk.h"
#include "passes/analysis/affine.h"
#include "passes/analysis/bounds.h"
#include "passes/analysis/order.h"

namespace tg::devectorize {

using analysis::AffineExpr;

class AffineBuilder {
 public:
  // `module` declares the variables.
  AffineBuilder(Builder& b, const Module& module)
      : b_(b), bounds_(b.context(), &module), order_(b.context()) {}

  // a + scale * c
  AffineExpr Add(const AffineExpr& a, const AffineExpr& c, int64_t scale = 1) const;
  AffineExpr Scale(const AffineExpr& a, int64_t factor) const;
  // Floor division by d > 0, and its remainder. A quotient that is not affine becomes a new term.
  AffineExpr FloorDiv(const AffineExpr& a, int64_t d);
  AffineExpr FloorMod(const AffineExpr& a, int64_t d);

  // The node of a form; the constant is added last. Caches the sum of the terms, because successive
  // forms often share them.
  const UOp* Build(const AffineExpr& a);
  // The form of a scalar node; if it has too many terms, the node is the only one.
  AffineExpr FormOf(const UOp* u) const;
  // The nodes a < c and a != c: a constant if bounds decide it, else in a canonical form that many
  // pairs share, since (i*8 + 3 < n*8) is (i < n).
  const UOp* Less(const AffineExpr& a, const AffineExpr& c);
  const UOp* NotEqual(const AffineExpr& a, const AffineExpr& c);

  analysis::Interval BoundsOf(const AffineExpr& a);
  // For a `gate` that Less returned: a form that is negative if and only if the gate holds. Null
  // for other gates.
  const AffineExpr* ClauseOf(const UOp* gate) const;
  // From now on, BoundsOf assumes that all of these forms are negative, instead of those before.
  void Assume(std::vector<AffineExpr> clauses) {
    assumed_ = std::move(clauses);
    bounded_terms_.clear();
  }
  // (scale, rest) with a = scale * c + rest, such that c's first term does not occur in `rest`;
  // scale 0 if there is no such integer.
  std::pair<int64_t, AffineExpr> Eliminate(const AffineExpr& a, const AffineExpr& c) const;
  // The greatest number that is known to divide the form's value; 0 for the constant 0.
  int64_t Divisor(const AffineExpr& a);

 private:
  // The node of the sum of the terms; null if there are none.
  const UOp* BuildTerms(AffineExpr::Terms terms);
  // (first, second) with a = d * first + second, where the coefficients of `second` are less than d
  // in magnitude and its constant is in 0..d-1.
  std::pair<AffineExpr, AffineExpr> SplitMultiples(const AffineExpr& a, int64_t d) const;
  analysis::Interval ComputeBounds(const AffineExpr& a);
  // a = coarse * size + fine with fine in 0..size-1, for a size > 1 that divides d; size 0: none.
  struct Grain {
    int64_t size = 0;
    AffineExpr coarse, fine;
  };
  Grain SplitGrain(const AffineExpr& a, int64_t d);
  // The quotient of `rest` by d, if its bounds determine it.
  std::optional<int64_t> OneQuotient(const AffineExpr& rest, int64_t d);

  Builder& b_;
  analysis::Bounds bounds_;
  mutable analysis::StructuralOrder order_;  // a cache
  AffineExpr::Terms last_terms_;             // the terms of the last Build
  const UOp* last_sum_ = nullptr;            // the node of their sum
  AffineExpr::Terms bounded_terms_;          // the terms of the last BoundsOf
  analysis::Interval bounds_of_terms_;       // the bounds of their sum
  std::vector<AffineExpr> assumed_;
  NodeMap<int> clause_of_;  // 1 + the position in clauses_
  std::vector<AffineExpr> clauses_;
};

}  // namespace tg::devectorize

#endif  // TG_PASSES_DEVECTORIZE_AFFINE_BUILDER_H_
