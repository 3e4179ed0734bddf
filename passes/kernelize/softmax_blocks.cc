#include "passes/kernelize/softmax_blocks.h"

#include <limits>
#include <utility>
#include <vector>

#include "base/arithmetic.h"
#include "ir/builder.h"
#include "ir/value.h"
#include "ir/walk.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "passes/analysis/extents.h"
#include "passes/analysis/kernel_axes.h"
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

// ceil(terms / block).
Dim BlocksOf(Context& ctx, const Dim& terms, int64_t block) {
  if (!terms.is_symbolic()) return CeilDiv(terms.value(), block);
  Builder b(ctx);
  const UOp* size = terms.symbol();
  if (size->op == Op::kMul && IsConst(size->src(1)) && size->src(1)->word() % block == 0) {
    return MulDims(ctx, size->src(0), size->src(1)->word() / block);
  }
  return b.Alu(Op::kFloorDiv, {b.Add(size, b.Index(block - 1)), b.Index(block)});
}

// Splits axis `axis` of a shape into blocks.
Shape Blocked(Shape shape, size_t axis, const Dim& blocks, int64_t block) {
  shape[axis] = blocks;
  shape.insert(shape.begin() + static_cast<ptrdiff_t>(axis) + 1, block);
  return shape;
}

class Rewriter {
 public:
  Rewriter(const Module& module, Body& body, const SoftmaxProduct& p, int64_t block)
      : b_(*body.context),
        module_(module),
        shapes_(module, *body.context),
        p_(p),
        block_(block),
        scale_(p.scale) {
    terms_ = shapes_.Of(p.scores)[p.scores_axis];
    blocks_ = BlocksOf(*body.context, terms_, block);
    rounded_ = MulDims(*body.context, blocks_, block);
    most_ = RoundUp(analysis::MaxExtent(module, *body.context, terms_), block);
    pads_ = analysis::ExtentsOf(terms_).number % block != 0;
    if (scale_) scale_ = ConstantOf(scale_);
  }

  // The value of the sum.
  const UOp* Run() {
    const Shape sum = shapes_.Of(p_.sum);
    const auto key = static_cast<int64_t>(p_.scores_axis), term = static_cast<int64_t>(p_.axis);
    const DType t = p_.sum->dtype;
    const UOp* scores = Staged(
        Masked(InBlocks(WithStagedQuery(Widened(WithoutFactors(p_.scores))), p_.scores_axis)));
    const Shape shape = shapes_.Of(scores);
    const UOp* maximum = b_.ReduceAxis(scores, Op::kMax, {{key + 1}});
    // One multiply-add a score, whose maximum is scaled once.
    const UOp* exponent = MatrixTypeOf(p_)
                              ? b_.Sub(Scaled(scores), b_.Expand(Scaled(Finite(maximum)), shape))
                              : Scaled(b_.Sub(scores, b_.Expand(Finite(maximum), shape)));
    // Matrix instructions take exponentials of the other factor's type, and these are summed.
    const DType multiplied(MatrixTypeOf(p_).value_or(t.scalar()));
    const UOp* exponential = Staged(b_.Cast(b_.Alu(Op::kExp2, {exponent}), multiplied));
    const UOp* total = b_.ReduceAxis(b_.Cast(exponential, t), Op::kAdd, {{key + 1}});
    const UOp* factors[2];
    factors[p_.factor] = b_.Cast(Moved(exponential, block_), t);
    factors[1 - p_.factor] = InBlocks(p_.other(), p_.axis);
    const UOp* sums = b_.ReduceAxis(b_.Mul(factors[0], factors[1]), Op::kAdd, {{term + 1}});
    const UOp* identities[] = {b_.Const(t, -std::numeric_limits<double>::infinity()),
                               b_.Const(t, 0), b_.Const(t, 0)};
    const UOp* values[] = {maximum, total, sums};
    const UOp* any = AnyScore();
    for (size_t i = 0; i < 3; ++i) {
      // A block all of whose scores are masked changes nothing, so that `lower` may skip it.
      if (any && i < 2) values[i] = b_.Where(any, values[i], identities[i]);
      if (i < 2) values[i] = Repeated(values[i]);
      if (any && i == 2) values[i] = b_.Where(Repeated(any), values[i], identities[i]);
    }
    // Whatever is combined has been multiplied by exp2(-scale * maximum).
    const UOp* carried[6];
    for (int64_t i = 0; i < 6; ++i) carried[i] = b_.Carried(t, i);
    const UOp* both = b_.Alu(Op::kMax, {carried[0], carried[3]});
    const UOp* finite = Finite(both);
    const UOp* before = b_.Alu(Op::kExp2, {Scaled(b_.Sub(carried[0], finite))});
    const UOp* next = b_.Alu(Op::kExp2, {Scaled(b_.Sub(carried[3], finite))});
    const UOp* combined[] = {both, nullptr, nullptr};
    for (size_t i = 1; i < 3; ++i) {
      combined[i] = b_.Add(b_.Mul(carried[i], before), b_.Mul(carried[3 + i], next));
    }
    std::vector<const UOp*> sources(values, values + 3);
    sources.insert(sources.end(), identities, identities + 3);
    sources.insert(sources.end(), combined, combined + 3);
    const UOp* all_total = b_.ReduceTuple(sources, 1, {{term}});
    const UOp* all_sums = b_.ReduceTuple(sources, 2, {{term}});
    if (!p_.sink) {
      const UOp* quotient = b_.Mul(all_sums, b_.Alu(Op::kRecip, {all_total}));
      return b_.Reshape(Cleared(quotient, all_total), sum);
    }
    // The numbers relative to the greater one of their maximum and the sink.
    const UOp* of_scores = Scaled(b_.ReduceTuple(sources, 0, {{term}}));
    const UOp* of_sink = b_.Cast(p_.sink, t);
    if (p_.scale) of_sink = b_.Mul(of_sink, ConstantOf(p_.scale));
    of_sink = AsResult(of_sink);
    const UOp* greatest = b_.Alu(Op::kMax, {of_scores, of_sink});
    const auto relative = [&](const UOp* x) { return b_.Alu(Op::kExp2, {b_.Sub(x, greatest)}); };
    const UOp* factor = relative(of_scores);
    const UOp* with_sink = b_.Add(b_.Mul(all_total, factor), relative(of_sink));
    const UOp* inverse = b_.Alu(Op::kRecip, {with_sink});
    return b_.Reshape(Cleared(b_.Mul(b_.Mul(all_sums, factor), inverse), all_total), sum);
  }

 private:
  // `x` with its axis of terms in blocks, of which the last may end in zeros.
  const UOp* InBlocks(const UOp* x, size_t axis) {
    Shape shape = shapes_.Of(x);
    if (pads_) {
      std::vector<std::pair<Dim, Dim>> pairs(shape.size(), {0, 0});
      pairs[axis].second = SubDims(b_.context(), rounded_, terms_);
      x = b_.Pad(x, pairs);
      shape[axis] = rounded_;
    }
    return b_.Reshape(x, Blocked(shape, axis, blocks_, block_));
  }
  // The scores in blocks, with -inf beyond the last term.
  const UOp* Masked(const UOp* scores) {
    if (!pads_) return scores;
    const Shape shape = shapes_.Of(scores);
    Shape along(shape.size(), 1);
    along[p_.scores_axis] = blocks_, along[p_.scores_axis + 1] = block_;
    const UOp* number = b_.Iota(most_);
    if (rounded_.is_symbolic()) number = b_.Shrink(number, {{0, rounded_}});
    const UOp* exists = b_.Lt(b_.Reshape(number, along), b_.Index(terms_));
    const UOp* lowest = b_.Const(scores->dtype, -std::numeric_limits<double>::infinity());
    return b_.Where(b_.Expand(exists, shape), scores, lowest);
  }
  const UOp* Staged(const UOp* x) { return b_.context().Make(Op::kStaged, x->dtype, {x}); }
  // By block, where the scores are masked from some key of a row on: whether any score is not. The
  // mask is a comparison of indices that selects -inf, and a block's first key decides. Null if the
  // scores are not masked so.
  const UOp* AnyScore() {
    const std::optional<Comparison> mask = MaskOfLastTerms(b_, module_, shapes_, p_);
    if (!mask) return nullptr;
    const UOp* compared = InBlocks(mask->less, p_.scores_axis);
    std::vector<std::pair<Dim, Dim>> first;
    for (const Dim& d : shapes_.Of(compared)) first.emplace_back(0, d);
    first[p_.scores_axis + 1].second = 1;
    const UOp* of_first = b_.Shrink(compared, first);
    return mask->masks ? b_.Alu(Op::kXor, {of_first, b_.Bool(true)}) : of_first;
  }
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
  const UOp* Scaled(const UOp* x) { return scale_ ? b_.Mul(x, scale_) : x; }
  // The scores with constant factors outside of their sum, if matrix instructions sum it. Where
  // the scores are the sum, perhaps masked, the factor goes on into the exponent's.
  const UOp* WithoutFactors(const UOp* scores);
  // `x`, or 0 where that is -inf: exp2 of a score of -inf is then 0, also where all scores so far
  // are -inf. A row of such scores alone has the sum 0, and its results are 0 * (1 / 0), NaN as in
  // the plain softmax.
  const UOp* Finite(const UOp* x) {
    const UOp* lowest = b_.Const(x->dtype, -std::numeric_limits<double>::infinity());
    return b_.Where(b_.Alu(Op::kCmpNe, {x, lowest}), x, b_.Const(x->dtype, 0));
  }

  // 0 instead of the values of rows that are cleared. The sum of exponentials is 0 if all scores
  // are -inf, else at least 1 or NaN.
  const UOp* Cleared(const UOp* value, const UOp* total) {
    if (p_.cleared == ClearedRows::kNone) return value;
    const UOp* zero = b_.Const(value->dtype, 0);
    const UOp* remains =
        p_.cleared == ClearedRows::kNan ? b_.Lt(zero, total) : b_.Alu(Op::kCmpNe, {total, zero});
    return b_.Where(remains, value, zero);
  }

  // `x`, of the scores' shape with the terms in blocks, moved as the softmax is in the products. It
  // has `size` elements of a block.
  const UOp* Moved(const UOp* x, int64_t size) {
    size_t axis = p_.scores_axis;
    for (auto it = p_.movement.rbegin(); it != p_.movement.rend(); ++it) {
      const UOp* m = *it;
      const size_t to = *AxisThrough(m, axis, shapes_);
      const Shape shape = Blocked(shapes_.Of(m), to, blocks_, size);
      if (m->op == Op::kPermute) {
        std::vector<int64_t> order;
        for (int64_t k : m->list()) {
          const auto from = static_cast<size_t>(k);
          order.push_back(from > axis ? k + 1 : k);
          if (from == axis) order.push_back(k + 1);
        }
        x = b_.Permute(x, order);
      } else {
        x = m->op == Op::kExpand ? b_.Expand(x, shape) : b_.Reshape(x, shape);
      }
      axis = to;
    }
    return x;
  }

  // A value with one element a block, repeated as the softmax is in the products.
  const UOp* Repeated(const UOp* x) {
    x = Moved(x, 1);
    const Shape shape = shapes_.Of(x);
    std::vector<std::pair<Dim, Dim>> first;
    Shape one = shape;
    for (size_t k = 0; k < shape.size(); ++k) {
      const bool repeats = k <= p_.axis ? p_.repeats[k] : k > p_.axis + 1 && p_.repeats[k - 1];
      if (repeats) one[k] = 1;
      first.emplace_back(0, one[k]);
    }
    return one == shape ? x : b_.Expand(b_.Shrink(x, first), shape);
  }

  // A row's value in the shape of what the tuple combines.
  const UOp* AsResult(const UOp* row) {
    Shape shape = shapes_.Of(row);
    shape = Blocked(shape, p_.scores_axis, 1, 1);
    row = b_.Reshape(row, shape);
    shape[p_.scores_axis] = blocks_;
    const UOp* repeated = Repeated(b_.Expand(row, shape));
    std::vector<std::pair<Dim, Dim>> first;
    for (const Dim& d : shapes_.Of(repeated)) first.emplace_back(0, d);
    first[p_.axis].second = 1;
    return b_.Shrink(repeated, first);
  }

  // The scores in the type of their sums, so that nothing between the products rounds to half.
  const UOp* Widened(const UOp* scores);

  // The scores, with the operands of their sums of products that do not vary along the terms
  // staged, before they are widened.
  const UOp* WithStagedQuery(const UOp* scores);

  Builder b_;
  const Module& module_;
  ShapeMap shapes_;
  const SoftmaxProduct& p_;
  const int64_t block_;
  Dim terms_, blocks_, rounded_;  // rounded_: the terms of whole blocks
  int64_t most_ = 0;              // of these, at most
  bool pads_ = false;             // whether the last block may have fewer terms
  const UOp* scale_;              // of the exponents; null: 1
};

const UOp* Rewriter::WithoutFactors(const UOp* scores) {
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

const UOp* Rewriter::Widened(const UOp* scores) {
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

const UOp* Rewriter::WithStagedQuery(const UOp* scores) {
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

const UOp* SoftmaxInBlocks(const Module& module, Body& body, const SoftmaxProduct& p,
                           int64_t block) {
  return Rewriter(module, body, p, block).Run();
}

}  // namespace tg::kernelize
