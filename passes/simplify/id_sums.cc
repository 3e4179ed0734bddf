#include "passes/simplify/id_sums.h"

#include "base/arithmetic.h"
#include "llvm/ADT/STLExtras.h"
#include "passes/analysis/affine.h"
#include "passes/simplify/affine_sums.h"

namespace tg::simplify {
namespace {

class IdSum {
 public:
  explicit IdSum(rewrite::RuleContext& rc) : rc_(rc) {}

  // Adds u * coef to `form`. Returns false if `u` is not found to be a sum of ids.
  bool Add(const UOp* u, int64_t coef, AffineExpr& form) {
    // Limits on time and on the depth of the recursion; larger sums are rare.
    constexpr int kMaxSteps = 128, kMaxDepth = 48;
    if (++steps_ > kMaxSteps || depth_ == kMaxDepth) return false;
    ++depth_;
    const bool added = AddNode(u, coef, form);
    --depth_;
    return added;
  }

 private:
  bool AddNode(const UOp* u, int64_t coef, AffineExpr& form) {
    int64_t product;
    switch (u->op) {
      case Op::kConst:
        return !__builtin_mul_overflow(u->word(), coef, &product) && form.AddConstant(product);
      case Op::kRange:
      case Op::kSpecial:
      case Op::kUnroll:
        return IsId(u) && form.AddTerm(u, coef);
      case Op::kAdd:
        return Add(u->src(0), coef, form) && Add(u->src(1), coef, form);
      case Op::kSub:
        return !__builtin_mul_overflow(coef, -1, &product) && Add(u->src(0), coef, form) &&
               Add(u->src(1), product, form);
      case Op::kMul:
        return IsConst(u->src(1)) && !__builtin_mul_overflow(u->src(1)->word(), coef, &product) &&
               Add(u->src(0), product, form);
      case Op::kFloorDiv:
      case Op::kFloorMod:
        return IsConst(u->src(1)) && AddPart(u, coef, form);
      default:
        return false;
    }
  }

  // Whether the id has a constant end and at least two values. (One with a single value is left to
  // the rules, which replace it by a constant.)
  bool IsId(const UOp* u) const {
    if (u->num_srcs > 0 && !IsConst(u->src(0))) return false;
    return rc_.bounds.Min(u) < rc_.bounds.Max(u);
  }

  // Adds a quotient or remainder by a constant, if the terms that are not multiples of the divisor
  // sum to a value in 0..divisor-1. False otherwise.
  bool AddPart(const UOp* u, int64_t coef, AffineExpr& form) {
    const int64_t by = u->src(1)->word();
    AffineExpr whole;
    whole.type = form.type;
    if (by <= 0 || !Add(u->src(0), 1, whole)) return false;
    // `%` keeps the sign of a coefficient: a small negative one widens the range less than its
    // complement would.
    AffineExpr rest;
    rest.type = form.type;
    rest.constant = FloorMod(whole.constant, by);
    for (const AffineExpr::Term& t : whole.terms) {
      if (const int64_t left = t.coef % by; left != 0) rest.terms.push_back({t.node, left});
    }
    const analysis::Interval range = analysis::IntervalOf(rest, rc_.bounds);
    if (range.lo < 0 || range.hi >= by) return false;
    if (u->op == Op::kFloorMod) return AddForm(rest, coef, form);
    for (AffineExpr::Term& t : whole.terms) t.coef /= by;
    whole.constant = FloorDiv(whole.constant, by);
    return AddForm(whole, coef, form);
  }

  static bool AddForm(const AffineExpr& part, int64_t coef, AffineExpr& form) {
    int64_t product;
    for (const AffineExpr::Term& t : part.terms) {
      if (__builtin_mul_overflow(t.coef, coef, &product) || !form.AddTerm(t.node, product)) {
        return false;
      }
    }
    return !__builtin_mul_overflow(part.constant, coef, &product) && form.AddConstant(product);
  }

  rewrite::RuleContext& rc_;
  int steps_ = 0, depth_ = 0;
};

}  // namespace

const UOp* SimplifyIdSum(const UOp* u, rewrite::Rewriter& rewriter) {
  if (u->dtype != kIndex) return nullptr;
  rewrite::RuleContext& rc = rewriter.context();
  AffineExpr form;
  form.type = u->dtype;
  if (!IdSum(rc).Add(u, 1, form)) return nullptr;
  const UOp* sum = BuildAffine(form, rc, u);
  // Records that every partial sum, every term and the sum itself need no further rewriting.
  const UOp* part = sum;
  for (; part->op == Op::kAdd; part = part->src(0)) {
    rewriter.SetFinal(part);
    for (const UOp* s : part->src(1)->srcs()) rewriter.SetFinal(s);
    rewriter.SetFinal(part->src(1));
  }
  for (const UOp* s : part->srcs()) rewriter.SetFinal(s);
  rewriter.SetFinal(part);
  rewriter.SetFinal(u, sum);
  return sum;
}

}  // namespace tg::simplify
