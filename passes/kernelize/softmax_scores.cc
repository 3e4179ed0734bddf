#include "passes/kernelize/softmax_scores.h"

#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "ir/builder.h"
#include "ir/value.h"
#include "ir/walk.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "passes/kernelize/softmax_mask.h"

namespace tg::kernelize {
namespace {

// A factor of a product that is itself the product of a value and a constant.
struct ScaledFactor {
  double factor = 1;
  const UOp *product = nullptr, *rest = nullptr;
};

ScaledFactor ScaledFactorOf(const UOp* u) {
  while (IsMovement(u->op) || u->op == Op::kCast) u = u->src(0);
  if (u->op != Op::kMul || !u->dtype.is_float()) return {};
  for (size_t k = 0; k < 2; ++k) {
    const UOp* c = u->src(k);
    if (IsConst(c)) return {DoubleFromBits(c->dtype.scalar(), c->word()), u, u->src(1 - k)};
  }
  return {};
}

bool IsTimesPositive(const UOp* u) {
  return u->op == Op::kMul && u->dtype.is_float() && IsConst(u->src(1)) &&
         DoubleFromBits(u->dtype.scalar(), u->src(1)->word()) > 0;
}

class ScorePreparer {
 public:
  ScorePreparer(Context& context, ShapeMap& shapes, const SoftmaxProduct& p)
      : b_(context), shapes_(shapes), p_(p), scale_(p.scale ? ConstantOf(p.scale) : nullptr) {}

  PreparedScores Run() {
    const UOp* scores = WithStagedQuery(Widened(WithoutFactors(p_.scores)));
    return {scores, scale_};
  }

 private:
  // The scores with constant factors outside of their sum, if matrix instructions sum it. Where
  // the scores are the sum, perhaps masked, the factor goes on into the exponent's.
  const UOp* WithoutFactors(const UOp* scores);
  // The scores in the type of their sums, so that nothing between the products rounds to half.
  const UOp* Widened(const UOp* scores);
  // The scores, with the operands of their sums of products that do not vary along the terms
  // staged, before they are widened.
  const UOp* WithStagedQuery(const UOp* scores);

  // `x` with node `from` replaced.
  const UOp* Replace(const UOp* x, const UOp* from, const UOp* to) {
    NodeMap<const UOp*> map;
    for (const UOp* u : PostOrder(x)) {
      llvm::SmallVector<const UOp*, 8> srcs;
      for (const UOp* s : u->srcs()) srcs.push_back(map.Get(s));
      map[u] = u == from ? to : b_.context().Rebuild(u, b_.context(), {srcs.data(), srcs.size()});
    }
    return map.Get(x);
  }
  // A constant in the type of the sums.
  const UOp* ConstantOf(const UOp* c, double factor = 1) {
    return b_.Const(p_.sum->dtype, factor * DoubleFromBits(c->dtype.scalar(), c->word()));
  }
  const UOp* Staged(const UOp* x) { return b_.context().Make(Op::kStaged, x->dtype, {x}); }

  Builder b_;
  ShapeMap& shapes_;
  const SoftmaxProduct& p_;
  const UOp* scale_;
};

const UOp* ScorePreparer::WithoutFactors(const UOp* scores) {
  const UOp* sum = nullptr;
  bool is_sum = true;  // what is between the scores and the sum multiplies by positive factors
  double factor = 1;
  std::vector<const UOp*> multiplied;  // the products with these factors
  const UOp* u = scores;
  for (;;) {
    u = Unwrapped(u, p_.wide);
    const std::optional<Mask> mask = FindMask(u, p_.wide);
    if (IsTimesPositive(u)) {
      factor *= DoubleFromBits(u->dtype.scalar(), u->src(1)->word());
      multiplied.push_back(u);
      u = u->src(0);
      continue;
    }
    if (u->op == Op::kReduceAxis) {
      sum = u;
    } else if (IsMovement(u->op)) {
      u = u->src(0);
      continue;
    } else if (mask && u->op == Op::kAdd && mask->term != u->src(0)) {
      u = u->src(0);
      continue;
    } else {
      is_sum = false;
    }
    break;
  }
  for (const UOp* v : PostOrder(scores)) {
    if (v->op != Op::kReduceAxis || v->src(0)->op != Op::kMul) continue;
    if (sum && v != sum) return scores;
    sum = v;
  }
  if (!sum || sum->src(0)->op != Op::kMul) return scores;
  if (!is_sum) factor = 1;
  const UOp* product = sum->src(0);
  std::vector<const UOp*> factors;
  for (const UOp* x : product->srcs()) {
    const ScaledFactor found = ScaledFactorOf(x);
    factor *= found.factor;
    factors.push_back(found.factor == 1 ? x : Replace(x, found.product, found.rest));
  }
  if (!(factor > 0) || factor == 1) return scores;
  if (is_sum) {
    // The outermost first, so that those below are still the same nodes.
    for (const UOp* m : multiplied) scores = Replace(scores, m, m->src(0));
  }
  const UOp* plain = b_.ReduceAxis(b_.Mul(factors[0], factors[1]), Op::kAdd, sum->list(1));
  const UOp* constant = b_.Const(sum->dtype, factor);
  if (!is_sum) return Replace(scores, sum, b_.Mul(plain, constant));
  scale_ = scale_ ? ConstantOf(scale_, factor) : constant;
  return Replace(scores, sum, plain);
}

const UOp* ScorePreparer::Widened(const UOp* scores) {
  const DType t = p_.sum->dtype;
  if (!MatrixTypeOf(p_)) return b_.Cast(scores, t);
  const auto is_inner = [](const UOp* u) { return IsElementwise(u->op) || IsMovement(u->op); };
  NodeSet inside;
  std::vector<const UOp*> stack = {scores};
  while (!stack.empty()) {
    const UOp* u = stack.back();
    stack.pop_back();
    if (!u->dtype.is_float() || !inside.Insert(u) || !is_inner(u)) continue;
    stack.insert(stack.end(), u->srcs().begin(), u->srcs().end());
  }
  NodeMap<const UOp*> map;
  for (const UOp* u : PostOrder(scores)) {
    const auto wide = [&](const UOp* s) { return inside.Contains(s) ? map.Get(s) : s; };
    if (!inside.Contains(u)) continue;
    if (IsConst(u)) {
      map[u] = b_.Const(t, DoubleFromBits(u->dtype.scalar(), u->word()));
    } else if (u->op == Op::kCast) {
      map[u] = b_.Cast(wide(u->src(0)), t);
    } else if (const std::optional<Mask> mask = FindMask(u, p_.wide); mask && mask->term) {
      // One selection a score. (A masked score counts as -inf even if it is NaN, as in blocks that
      // are skipped.)
      const UOp* condition = mask->condition;
      for (const UOp* m : llvm::reverse(mask->movement)) {
        condition = MovedLike(b_.context(), m, condition);
      }
      const UOp* score = wide(u->src(mask->term == u->src(0) ? 1 : 0));
      const UOp* lowest = b_.Const(t, -std::numeric_limits<double>::infinity());
      map[u] = mask->where_true ? b_.Where(condition, lowest, score)
                                : b_.Where(condition, score, lowest);
    } else if (is_inner(u)) {
      llvm::SmallVector<const UOp*, 8> srcs;
      for (const UOp* s : u->srcs()) srcs.push_back(wide(s));
      map[u] = b_.context().Make(u->op, t, {srcs.data(), srcs.size()}, u->attr);
    } else {
      map[u] = b_.Cast(u, t);
    }
  }
  return map.Get(scores);
}

const UOp* ScorePreparer::WithStagedQuery(const UOp* scores) {
  // From the scores down to the sums of products, along the terms' axis.
  NodeMap<const UOp*> map;
  NodeMap<std::optional<size_t>> axis;
  const std::vector<const UOp*> order = PostOrder(scores);
  axis[scores] = p_.scores_axis;
  for (const UOp* u : llvm::reverse(order)) {
    const std::optional<size_t> at = axis.Get(u);
    if (!at) continue;
    if (IsElementwise(u->op)) {
      for (const UOp* s : u->srcs()) {
        if (shapes_.Of(s).size() == shapes_.Of(u).size()) axis[s] = at;
      }
    } else if (u->op == Op::kReduceAxis) {
      axis[u->src(0)] = at;
    } else if (IsMovement(u->op)) {
      const Shape& from = shapes_.Of(u->src(0));
      for (size_t k = 0; k < from.size(); ++k) {
        if (AxisThrough(u, k, shapes_) == at && !from[k].Is(1)) axis[u->src(0)] = k;
      }
    }
  }
  for (const UOp* u : order) {
    if (u->op != Op::kReduceAxis || u->src(0)->op != Op::kMul || !axis.Get(u)) continue;
    for (const UOp* x : u->src(0)->srcs()) {
      const UOp* below = nullptr;
      if (!IsRepeatedAlong(x, *axis.Get(u), shapes_, &below, p_.wide) || !below) continue;
      const UOp* source = below;
      while (IsMovement(source->op)) source = source->src(0);
      if (MatrixTypeOf(p_) && source->op == Op::kCast) below = source->src(0);
      map[below] = Staged(below);
    }
  }
  for (const UOp* u : order) {
    llvm::SmallVector<const UOp*, 8> srcs;
    for (const UOp* s : u->srcs()) srcs.push_back(map.Get(s));
    const UOp* to = b_.context().Rebuild(u, b_.context(), {srcs.data(), srcs.size()});
    map[u] = map.Get(u) ? Staged(to) : to;
  }
  return map.Get(scores);
}

}  // namespace

PreparedScores PrepareScores(Context& context, ShapeMap& shapes, const SoftmaxProduct& p) {
  return ScorePreparer(context, shapes, p).Run();
}

}  // namespace tg::kernelize
