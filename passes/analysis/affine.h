// AffineExpr: an integer as a sum of multiples of nodes and a constant, coef * node + ... +
// constant. It is a value, and making one makes no nodes. A node of a sum may be anything that is
// neither a sum nor a multiple of another node: a loop's counter, a quotient, a value from memory.
//
// Rules, address cutting, read-ahead and the cost of accesses all see indices in this form.
#ifndef TG_PASSES_ANALYSIS_AFFINE_H_
#define TG_PASSES_ANALYSIS_AFFINE_H_

#include <cstddef>
#include <cstdint>
#include <optional>

#include "ir/uop.h"
#include "llvm/ADT/SmallVector.h"
#include "passes/analysis/bounds.h"
#include "passes/analysis/interval.h"

namespace tg::analysis {

// The value of a constant, or of a constant vector whose lanes are equal.
inline std::optional<int64_t> UniformBits(const UOp* u) {
  if (u->op == Op::kConst) return u->word();
  if (u->op != Op::kVConst) return std::nullopt;
  const auto lanes = u->list();
  for (int64_t v : lanes) {
    if (v != lanes[0]) return std::nullopt;
  }
  return lanes[0];
}

// If `type` is index, the sum is exact. If it is an integer type, the sum is modulo 2^bits.
struct AffineExpr {
  static constexpr size_t kMaxTerms = 32;
  struct Term {
    const UOp* node;
    int64_t coef;  // not 0
    friend bool operator==(const Term&, const Term&) = default;
  };
  using Terms = llvm::SmallVector<Term, 4>;

  Terms terms;  // of distinct nodes
  int64_t constant = 0;
  DType type = Scalar::kIndex;

  static AffineExpr Constant(int64_t c, DType type = Scalar::kIndex) { return {{}, c, type}; }
  static AffineExpr Of(const UOp* node) { return {{{node, 1}}, 0, node->dtype}; }

  bool is_constant() const { return terms.empty(); }
  // The factor of a node; 0 if it is none of the terms.
  int64_t CoefOf(const UOp* node) const;
  // Removes it from the terms, and returns its factor.
  int64_t Take(const UOp* node);

  // The product of two numbers in this type; nullopt if it overflows.
  std::optional<int64_t> Product(int64_t a, int64_t b) const;

  // Adds the terms of coef * u. False if there are too many terms or, for an index, a number
  // overflows; then the expression is in an unspecified state. The same holds for the next three.
  bool Add(const UOp* u, int64_t coef);
  bool AddTerm(const UOp* node, int64_t coef);
  bool AddConstant(int64_t v);
  bool Scale(int64_t factor);

  // For an index, moves the constant by `by`. It may wrap, which happens only for indices that are
  // out of bounds.
  void Advance(int64_t by) {
    constant = static_cast<int64_t>(static_cast<uint64_t>(constant) + static_cast<uint64_t>(by));
  }

  // Whether the terms are the same, in one order.
  friend bool operator==(const AffineExpr&, const AffineExpr&) = default;
};

// The affine expression of `u`; nullopt if `u` is not an integer or index, has too many terms, or
// has a number that overflows.
std::optional<AffineExpr> ParseAffine(const UOp* u);

// An interval that contains the value of `sum`, computed without wrapping: from the intervals of
// the terms and, for an index, from the limits of the ranges among them (LimitOf).
Interval IntervalOf(const AffineExpr& sum, Bounds& bounds);

}  // namespace tg::analysis

#endif  // TG_PASSES_ANALYSIS_AFFINE_H_
