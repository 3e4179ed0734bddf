// Canonical sums of integers, for rewrites of affine expressions (analysis/affine.h) that rules of
// fixed size cannot express.
//
// The canonical form of a sum has like terms combined and associates to the left: ((a + b) + c)
// + 1. Its terms are ordered by their structural rank (passes/analysis/order.h), those of equal
// rank by decreasing magnitude of the coefficient. Constants come last. Sums of more than
// AffineExpr::kMaxTerms terms are left unchanged.
#ifndef TG_PASSES_SIMPLIFY_AFFINE_SUMS_H_
#define TG_PASSES_SIMPLIFY_AFFINE_SUMS_H_

#include "ir/uop.h"
#include "passes/analysis/affine.h"
#include "passes/rewrite/rule_context.h"

namespace tg::simplify {

using analysis::AffineExpr;
using analysis::ParseAffine;

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

#endif  // TG_PASSES_SIMPLIFY_AFFINE_SUMS_H_
