// Affine expressions, coef * node + ... + constant, for rewrites that rules of fixed size cannot
// express.
//
// The canonical form of a sum has like terms combined and associates to the left: ((a + b) + c)
// + 1. Its terms are ordered by their structural rank (passes/analysis/order.h), those of equal
// rank by decreasing magnitude of the coefficient. Constants come last. Sums of more than kMaxTerms
// terms are left unchanged.
#ifndef TG_PASSES_SIMPLIFY_AFFINE_EXPR_H_
#define TG_PASSES_SIMPLIFY_AFFINE_EXPR_H_

#include <cstdint>
#include <optional>

#include "ir/uop.h"
#include "llvm/ADT/SmallVector.h"
#include "passes/rewrite/rule_context.h"

namespace tg::simplify {

// If `type` is index, the sum is exact. If it is an integer type, the sum is modulo 2^bits.
struct AffineExpr {
  static constexpr size_t kMaxTerms = 32;
  struct Term {
    const UOp* node;
    int64_t coef;  // not 0
  };
  DType type;
  llvm::SmallVector<Term, 8> terms;  // of distinct nodes
  int64_t constant = 0;

  // Adds the terms of coef * u. False if there are too many terms or, for an index, a number
  // overflows; then the expression is in an unspecified state. The same holds for the next three.
  bool Add(const UOp* u, int64_t coef);
  bool AddTerm(const UOp* node, int64_t coef);
  bool AddConstant(int64_t v);
  bool Scale(int64_t factor);

  // An interval that contains the value, computed without wrapping: from the intervals of the nodes
  // and, for an index, from the limits of the ranges among them (RangeLimit).
  analysis::Interval Range(analysis::Bounds& bounds) const;

 private:
  analysis::Interval RangeOfTerms(analysis::Bounds& bounds) const;
  analysis::Interval RangeByLimit(size_t term, const analysis::RangeLimit& of_it,
                                  analysis::Bounds& bounds) const;
};

// The affine expression of `u`; nullopt if `u` is not an integer or index, has too many terms, or
// has a number that overflows.
std::optional<AffineExpr> ParseAffine(const UOp* u);
void SortTerms(AffineExpr& form, rewrite::RuleContext& rc);
// Builds the canonical form and sorts the terms. `old`: a node of the same value, which is returned
// if it is in canonical form.
const UOp* BuildAffine(AffineExpr& form, rewrite::RuleContext& rc, const UOp* old = nullptr);

// ---- Rules
// Brings a sum into canonical form, and replaces x / c * c + x % c by x.
const UOp* CanonicalSum(const UOp* u, rewrite::RuleContext& rc);
// Distributes (a + b + ...) * c, for indices and a constant c.
const UOp* DistributeProduct(const UOp* u, rewrite::RuleContext& rc);
// Turns max(a, c) * -k of indices, for constants c and k > 0, into min(-a, -c) * k if all
// coefficients of `a` are negative, which leaves fewer negations; and vice versa for min.
const UOp* NegateExtremum(const UOp* u, rewrite::RuleContext& rc);
// Sorts the operands of a commutative op in structural order, constants last.
const UOp* CanonicalOperands(const UOp* u, rewrite::RuleContext& rc);

}  // namespace tg::simplify

#endif  // TG_PASSES_SIMPLIFY_AFFINE_EXPR_H_
