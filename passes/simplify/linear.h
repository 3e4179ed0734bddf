// Sums as lists of terms: coef * node + ... + constant. What rules of fixed size cannot say.
//
// The canonical form of a sum: like terms combined, terms in structural order (passes/analysis/
// order.h; those of equal rank by falling size of the coefficient), the constant last, added from
// the left. Sums of more than kMaxTerms terms are left as they are.
#ifndef TG_PASSES_SIMPLIFY_LINEAR_H_
#define TG_PASSES_SIMPLIFY_LINEAR_H_

#include <cstdint>
#include <optional>

#include "ir/uop.h"
#include "llvm/ADT/SmallVector.h"
#include "passes/rewrite/rule_context.h"

namespace tg {

// Of an index expression, exact; of an integer that wraps, modulo 2^bits.
struct LinearForm {
  static constexpr size_t kMaxTerms = 32;
  struct Term {
    const UOp* node;
    int64_t coef;  // not 0
  };
  DType type;
  llvm::SmallVector<Term, 8> terms;  // no node twice
  int64_t constant = 0;

  // Adds coef * u, taken apart. False: too many terms, or a number overflows.
  bool Add(const UOp* u, int64_t coef);
  bool AddTerm(const UOp* node, int64_t coef);
  bool AddConstant(int64_t v);
  bool Scale(int64_t factor);

  // The interval of the value over the integers, from the intervals of the nodes and from what
  // limits ranges among them.
  Interval Range(Bounds& bounds) const;

 private:
  Interval RangeOfTerms(Bounds& bounds) const;
  Interval RangeByLimit(size_t term, const RangeLimit& of_it, Bounds& bounds) const;
};

// nullopt where `u` is no integer or index, or too long.
std::optional<LinearForm> ParseLinear(const UOp* u);
void SortTerms(LinearForm& form, RuleContext& rc);
// The node of the canonical form. Sorts the terms. `old`: a node of the same value, which need not
// be made again where it is that already.
const UOp* BuildLinear(LinearForm& form, RuleContext& rc, const UOp* old = nullptr);

// ---- Rules
// A sum, in canonical form; pairs of a quotient and a remainder that make up a whole are joined.
const UOp* CanonicalSum(const UOp* u, RuleContext& rc);
// (a + b + ...) * c of indices.
const UOp* DistributeProduct(const UOp* u, RuleContext& rc);
// max(a, c) * -k of indices, where all of a's terms are negative: min(-a, -c) * k, which has fewer
// signs; and so for min.
const UOp* NegateExtremum(const UOp* u, RuleContext& rc);
// Operands of an op that commutes, in structural order, constants last.
const UOp* CanonicalOperands(const UOp* u, RuleContext& rc);

}  // namespace tg

#endif  // TG_PASSES_SIMPLIFY_LINEAR_H_
