// Affine expressions, coef * node + ... + constant, for rewrites that rules of fixed size cannot
// express.
//
// The canonical form of a sum has like terms combined and is added from the left. Its terms are in
// structural order (passes/analysis/order.h; terms of equal rank by decreasing magnitude of the
// coefficient), and the constant is last. Sums of more than kMaxTerms terms are left unchanged.
#ifndef TG_PASSES_SIMPLIFY_AFFINE_EXPR_H_
#define TG_PASSES_SIMPLIFY_AFFINE_EXPR_H_

#include <cstdint>
#include <optional>

#include "ir/uop.h"
#include "llvm/ADT/SmallVector.h"
#include "passes/rewrite/rule_context.h"

namespace tg {

// The value of an index expression exactly, or of an integer that wraps modulo 2^bits.
struct AffineExpr {
  static constexpr size_t kMaxTerms = 32;
  struct Term {
    const UOp* node;
    int64_t coef;  // not 0
  };
  DType type;
  llvm::SmallVector<Term, 8> terms;  // of distinct nodes
  int64_t constant = 0;

  // Adds the terms of coef * u. False: there are too many terms, or a number overflows.
  bool Add(const UOp* u, int64_t coef);
  bool AddTerm(const UOp* node, int64_t coef);
  bool AddConstant(int64_t v);
  bool Scale(int64_t factor);

  // The interval of the value over the integers, from the intervals of the nodes and from the
  // limits of ranges among them (RangeLimit).
  Interval Range(Bounds& bounds) const;

 private:
  Interval RangeOfTerms(Bounds& bounds) const;
  Interval RangeByLimit(size_t term, const RangeLimit& of_it, Bounds& bounds) const;
};

// nullopt if `u` is not an integer or index, or has too many terms.
std::optional<AffineExpr> ParseAffine(const UOp* u);
void SortTerms(AffineExpr& form, RuleContext& rc);
// Builds the canonical form and sorts the terms. `old`: a node of the same value, which is returned
// if it is in canonical form.
const UOp* BuildAffine(AffineExpr& form, RuleContext& rc, const UOp* old = nullptr);

// ---- Rules
// Brings a sum into canonical form, and joins a quotient and its remainder into their dividend.
const UOp* CanonicalSum(const UOp* u, RuleContext& rc);
// Distributes (a + b + ...) * c of indices.
const UOp* DistributeProduct(const UOp* u, RuleContext& rc);
// Turns max(a, c) * -k of indices into min(-a, -c) * k, which has fewer negations, if all terms of
// a are negative; and vice versa for min.
const UOp* NegateExtremum(const UOp* u, RuleContext& rc);
// Sorts the operands of a commutative op in structural order, constants last.
const UOp* CanonicalOperands(const UOp* u, RuleContext& rc);

}  // namespace tg

#endif  // TG_PASSES_SIMPLIFY_AFFINE_EXPR_H_
