#include "passes/kernelize/softmax_blocks.h"

#include <limits>
#include <utility>
#include <vector>

#include "base/arithmetic.h"
#include "ir/builder.h"
#include "ir/value.h"
#include "ir/walk.h"
#include "llvm/ADT/STLExtras.h"
#include "passes/analysis/extents.h"
#include "passes/analysis/kernel_axes.h"
#include "passes/kernelize/softmax_mask.h"
#include "passes/kernelize/softmax_scores.h"

namespace tg::kernelize {
namespace {

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
      : b_(*body.context), module_(module), shapes_(module, *body.context), p_(p), block_(block) {
    terms_ = shapes_.Of(p.scores)[p.scores_axis];
    blocks_ = BlocksOf(*body.context, terms_, block);
    rounded_ = MulDims(*body.context, blocks_, block);
    most_ = RoundUp(analysis::MaxExtent(module, *body.context, terms_), block);
    pads_ = analysis::ExtentsOf(terms_).number % block != 0;
  }

  // The value of the sum.
  const UOp* Run() {
    const Shape sum = shapes_.Of(p_.sum);
    const auto key = static_cast<int64_t>(p_.scores_axis), term = static_cast<int64_t>(p_.axis);
    const DType t = p_.sum->dtype;
    const PreparedScores prepared = PrepareScores(b_.context(), shapes_, p_);
    scale_ = prepared.scale;
    const UOp* scores = Staged(Masked(InBlocks(prepared.scores, p_.scores_axis)));
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
  // A constant in the type of the sums.
  const UOp* ConstantOf(const UOp* c) {
    return b_.Const(p_.sum->dtype, DoubleFromBits(c->dtype.scalar(), c->word()));
  }
  const UOp* Scaled(const UOp* x) { return scale_ ? b_.Mul(x, scale_) : x; }
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

  Builder b_;
  const Module& module_;
  ShapeMap shapes_;
  const SoftmaxProduct& p_;
  const int64_t block_;
  Dim terms_, blocks_, rounded_;  // rounded_: the terms of whole blocks
  int64_t most_ = 0;              // of these, at most
  bool pads_ = false;             // whether the last block may have fewer terms
  const UOp* scale_ = nullptr;    // of the exponents; null: 1
};

}  // namespace

const UOp* SoftmaxInBlocks(const Module& module, Body& body, const SoftmaxProduct& p,
                           int64_t block) {
  return Rewriter(module, body, p, block).Run();
}

}  // namespace tg::kernelize
