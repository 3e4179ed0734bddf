#include "passes/kernelize/online_softmax.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "ir/builder.h"
#include "ir/value.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "passes/analysis/kernel_axes.h"
#include "passes/kernelize/cost.h"
#include "passes/kernelize/materialization.h"
#include "passes/kernelize/softmax_product.h"

namespace tg::kernelize {
namespace {

// The greatest number of terms that divides the axis, has at least two blocks, and whose operands
// and scores fit into a core's nearest cache together. 0 if it is below 16.
int64_t BlockOf(int64_t terms, const passes::Target& target) {
  const int64_t bytes_a_term = 64 * 4 * 2 * 2;  // both products' operands, and as much for scores
  int64_t most = 16;
  while (2 * most * bytes_a_term <= 2 * target.near_cache_bytes) most *= 2;
  for (int64_t block = std::min(most, terms / 2); block >= 16; --block) {
    if (terms % block == 0) return block;
  }
  return 0;
}

// Splits axis `axis` of a shape into blocks.
Shape Blocked(Shape shape, size_t axis, int64_t blocks, int64_t block) {
  shape[axis] = blocks;
  shape.insert(shape.begin() + static_cast<ptrdiff_t>(axis) + 1, block);
  return shape;
}

class Rewriter {
 public:
  Rewriter(const Module& module, Body& body, const SoftmaxProduct& p, int64_t block)
      : b_(*body.context), shapes_(module, *body.context), p_(p), block_(block) {
    blocks_ = shapes_.Of(p.scores)[p.scores_axis].value() / block;
  }

  // The value of the sum.
  const UOp* Run() {
    const Shape sum = shapes_.Of(p_.sum);
    const auto key = static_cast<int64_t>(p_.scores_axis), term = static_cast<int64_t>(p_.axis);
    const Shape whole = shapes_.Of(p_.scores);
    const UOp* scores = Staged(
        b_.Reshape(WithStagedQuery(p_.scores), Blocked(whole, p_.scores_axis, blocks_, block_)));
    const DType t = scores->dtype;
    const Shape shape = shapes_.Of(scores);
    const UOp* maximum = b_.ReduceAxis(scores, Op::kMax, {{key + 1}});
    const UOp* exponent = Scaled(b_.Sub(scores, b_.Expand(Finite(maximum), shape)));
    const UOp* exponential = Staged(b_.Alu(Op::kExp2, {exponent}));
    const UOp* total = b_.ReduceAxis(exponential, Op::kAdd, {{key + 1}});
    const Shape products = Blocked(shapes_.Of(p_.product()), p_.axis, blocks_, block_);
    const UOp* factors[2];
    factors[p_.factor] = Moved(exponential, block_);
    factors[1 - p_.factor] = b_.Reshape(p_.other(), products);
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
    return b_.Reshape(b_.Mul(all_sums, b_.Alu(Op::kRecip, {all_total})), sum);
  }

 private:
  const UOp* Staged(const UOp* x) { return b_.context().Make(Op::kStaged, x->dtype, {x}); }
  // By block, where the scores are masked from some key of a row on: whether any score is not. The
  // mask is a comparison of indices that select -inf, and a block's first key decides. Null if the
  // scores are not masked so.
  const UOp* AnyScore() {
    const UOp* u = p_.scores;
    if (u->op != Op::kWhere) return nullptr;
    const auto is_lowest = [](const UOp* x) {
      return IsConst(x) && DoubleFromBits(x->dtype.scalar(), x->word()) ==
                               -std::numeric_limits<double>::infinity();
    };
    const UOp* masked = u->src(0);
    const bool selects = is_lowest(u->src(1));
    if (!selects && !is_lowest(u->src(2))) return nullptr;
    if (masked->op != Op::kCmpLt || !masked->src(0)->dtype.is_index()) return nullptr;
    const UOp *row = masked->src(selects ? 0 : 1), *key = masked->src(selects ? 1 : 0);
    if (Trend(row) != 0 || Trend(key) != 1) return nullptr;
    const Shape blocked = Blocked(shapes_.Of(p_.scores), p_.scores_axis, blocks_, block_);
    std::vector<std::pair<Dim, Dim>> first;
    for (const Dim& d : blocked) first.emplace_back(0, d);
    first[p_.scores_axis + 1].second = 1;
    const UOp* of_first = b_.Shrink(b_.Reshape(masked, blocked), first);
    return selects ? b_.Alu(Op::kXor, {of_first, b_.Bool(true)}) : of_first;
  }
  // How an index of the scores' shape changes along their terms: 0 not at all, 1 it never
  // decreases, -1 unknown.
  int Trend(const UOp* x) {
    std::optional<size_t> axis = p_.scores_axis;
    while (IsMovement(x->op)) {
      const Shape &from = shapes_.Of(x->src(0)), &to = shapes_.Of(x);
      if (x->op == Op::kExpand && from[*axis].Is(1) && !to[*axis].Is(1)) return 0;
      std::optional<size_t> source;
      for (size_t k = 0; k < from.size() && !source; ++k) {
        if (from[k] == to[*axis] && AxisThrough(x, k, shapes_) == axis) source = k;
      }
      if (!source) return -1;
      axis = source;
      x = x->src(0);
    }
    if (x->op == Op::kIota) return 1;
    return IsConst(x) ? 0 : -1;
  }
  const UOp* Scaled(const UOp* x) { return p_.scale ? b_.Mul(x, p_.scale) : x; }
  // `x`, or 0 where that is -inf: exp2 of a score of -inf is then 0, also where all scores so far
  // are -inf. A row of such scores alone has the sum 0, and its results are 0 * (1 / 0), NaN as in
  // the plain softmax.
  const UOp* Finite(const UOp* x) {
    const UOp* lowest = b_.Const(x->dtype, -std::numeric_limits<double>::infinity());
    return b_.Where(b_.Alu(Op::kCmpNe, {x, lowest}), x, b_.Const(x->dtype, 0));
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

  // The scores, with the operands of their sums of products that do not vary along the terms
  // staged.
  const UOp* WithStagedQuery(const UOp* scores);

  Builder b_;
  ShapeMap shapes_;
  const SoftmaxProduct& p_;
  const int64_t block_;
  int64_t blocks_ = 0;
};

// Whether the value is the same along axis `axis`: some movement op on the way down repeats it.
// Sets `below` to the source of the lowest expand.
bool IsRepeatedAlong(const UOp* x, size_t axis, ShapeMap& shapes, const UOp** below) {
  bool repeats = false;
  std::optional<size_t> at = axis;
  std::vector<const UOp*> down;
  for (; IsMovement(x->op); x = x->src(0)) down.push_back(x);
  for (const UOp* m : down) {
    const Shape &from = shapes.Of(m->src(0)), &to = shapes.Of(m);
    if (m->op == Op::kExpand) *below = m->src(0);
    if (!at) continue;
    if (m->op == Op::kExpand) {
      if (from[*at].Is(1) && !to[*at].Is(1)) repeats = true, at = std::nullopt;
    } else if (m->op == Op::kPermute) {
      at = static_cast<size_t>(m->list()[*at]);
    } else {
      std::optional<size_t> source;
      for (size_t k = 0; k < from.size() && !source; ++k) {
        if (AxisThrough(m, k, shapes) == at && from[k] == to[*at]) source = k;
      }
      at = source;
    }
  }
  return repeats;
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
      if (!IsRepeatedAlong(x, *axis.Get(u), shapes_, &below) || !below) continue;
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

// What a fused product reads: nodes below which nothing is computed in its kernel. False if the
// scores are no sums of products.
class Boundary {
 public:
  explicit Boundary(ShapeMap& shapes) : shapes_(&shapes) {}

  bool Find(const SoftmaxProduct& p) {
    Add(p.other());
    // The scores: arithmetic down to the reduces, of which those with as many results are computed
    // for each score.
    const int64_t size = NumElements(shapes_->Of(p.scores));
    bool products = false;
    std::vector<const UOp*> stack = {p.scores};
    NodeSet seen;
    while (!stack.empty()) {
      const UOp* u = Unstaged(stack.back());
      stack.pop_back();
      if (!seen.Insert(u)) continue;
      inside.push_back(u);
      if (IsStored(u) || u->num_srcs == 0) continue;
      if (IsMovement(u->op) || (IsElementwise(u->op) && u->op != Op::kCast)) {
        stack.insert(stack.end(), u->srcs().begin(), u->srcs().end());
      } else if (u->op == Op::kReduceAxis && NumElements(shapes_->Of(u)) == size &&
                 u->src(0)->op == Op::kMul) {
        inside.push_back(u->src(0));
        for (const UOp* x : u->src(0)->srcs()) Add(x);
        products = true;
      } else {
        inside.pop_back();
        Add(u);
      }
    }
    return products;
  }

  std::vector<const UOp*> inside;  // nodes of the kernel that the scores are made of
  std::vector<const UOp*> outside;

 private:
  // The value behind movement ops.
  void Add(const UOp* u) {
    for (; IsMovement(u->op); u = u->src(0)) inside.push_back(u);
    if (!llvm::is_contained(outside, u)) outside.push_back(u);
  }

  ShapeMap* shapes_;
};

// Whether one kernel takes less time than several with the scores in memory. Its lanes are results
// along an axis of the scores along which the other factor is the same.
bool Pays(const SoftmaxProduct& p, ShapeMap& shapes, const passes::Target& target) {
  const Shape& scores = shapes.Of(p.scores);
  const int64_t terms = scores[p.scores_axis].value();
  if (target.is_gpu || !target.HasVectors() || BlockOf(terms, target) == 0) return false;
  int64_t rows = 1;
  const Shape& whole = shapes.Of(p.product());
  for (size_t k = 0; k < whole.size(); ++k) {
    const UOp* below = nullptr;
    const bool shares =
        k != p.axis && !p.repeats[k] && IsRepeatedAlong(p.other(), k, shapes, &below);
    if (shares) rows = std::max(rows, whole[k].value());
  }
  const double elements = static_cast<double>(NumElements(scores)),
               products = static_cast<double>(NumElements(whole));
  const auto lanes = static_cast<double>(target.alu_width / 4);
  const double full =
      static_cast<double>(rows) / (lanes * std::ceil(static_cast<double>(rows) / lanes));
  // Both products, where lanes are left idle; the scores and their softmax written and read again.
  const double idle = 2 * 2 * products / target.flops_per_second * (1 / full - 1);
  const double bytes = elements * ByteSize(p.scores->dtype.scalar());
  const double memory = bytes > static_cast<double>(target.cache_bytes)
                            ? bytes * (1 + target.write_traffic) / target.bytes_per_second
                            : 2 * bytes / target.shared_cache_bytes_per_second;
  return memory + target.launch_seconds > idle;
}

// Whether a reshape only adds and removes axes of extent 1.
bool MovesWholeAxes(const UOp* reshape, ShapeMap& shapes) {
  Shape from = shapes.Of(reshape->src(0)), to = shapes.Of(reshape);
  std::erase_if(from, [](const Dim& d) { return d.Is(1); });
  std::erase_if(to, [](const Dim& d) { return d.Is(1); });
  return from == to;
}

}  // namespace

int64_t FuseOnlineSoftmaxes(const Module& module, Body& body, ShapeMap& shapes,
                            const passes::Target& target, NodeSet& fused, UOpSpan order) {
  if (module.flags.has(ModuleFlag::kNoReassociate)) return 0;
  NodeMap<int> users;
  std::vector<std::pair<SoftmaxProduct, Boundary>> found;
  for (const UOp* u : order) {
    for (const UOp* s : u->srcs()) ++users[s];
    std::optional<SoftmaxProduct> p = FindSoftmaxProduct(u, shapes);
    if (!p || p->sum->dtype.scalar() != Scalar::kF32 || !Pays(*p, shapes, target)) continue;
    Boundary boundary(shapes);
    if (boundary.Find(*p)) found.emplace_back(*std::move(p), std::move(boundary));
  }
  // Values that something else reads too are stored.
  std::erase_if(found, [&](const auto& f) {
    const SoftmaxProduct& p = f.first;
    NodeSet inside;
    const std::vector<const UOp*> nodes = PostOrder(p.sum);
    NodeMap<int> uses;
    for (const UOp* u : nodes) {
      for (const UOp* s : u->srcs()) ++uses[s];
    }
    const auto alone = [&](const UOp* u) { return uses.Get(u) == users.Get(u); };
    return !(alone(p.softmax) && alone(p.exponential) && alone(p.total) && alone(p.maximum) &&
             alone(p.scores) && alone(p.product()));
  });
  if (found.empty()) return 0;
  Builder b(*body.context);
  NodeMap<const UOp*> user;
  for (const UOp* u : order) {
    for (const UOp* s : u->srcs()) user[s] = u;
  }
  // What a kernel stores of a sum: the sum in the order of axes in which it is read. Null where an
  // assign stores it.
  const auto stored_by = [&](const UOp* u) -> const UOp* {
    const UOp* last = u;
    while (users.Get(u) == 1) {
      u = user.Get(u);
      if (u->op == Op::kAssign) return nullptr;
      if (u->op == Op::kPermute) last = u;
      if (u->op != Op::kPermute && !(u->op == Op::kReshape && MovesWholeAxes(u, shapes))) break;
    }
    return last;
  };
  NodeSet sums, stored;
  for (const auto& [p, boundary] : found) {
    sums.Insert(p.sum);
    if (const UOp* last = stored_by(p.sum)) stored.Insert(last);
    for (const UOp* u : boundary.outside) {
      if (!IsStored(u) && u->num_srcs > 0 && u->op != Op::kContiguous) stored.Insert(u);
    }
  }
  NodeMap<const UOp*> map;
  NodeSet now;
  for (const UOp* u : order) {
    llvm::SmallVector<const UOp*, 8> srcs;
    for (const UOp* s : u->srcs()) srcs.push_back(map.Get(s));
    const UOp* to = b.context().Rebuild(u, b.context(), {srcs.data(), srcs.size()});
    if (fused.Contains(u) || sums.Contains(u)) now.Insert(to);
    body.CarryOver(u, to);
    map[u] = stored.Contains(u) ? b.context().Make(Op::kContiguous, to->dtype, {to}) : to;
  }
  fused = std::move(now);
  body.root = map.Get(body.root);
  return static_cast<int64_t>(found.size());
}

bool RewriteOnlineSoftmax(const Module& module, Body& body, const passes::Target& target) {
  if (body.root->num_srcs != 1 || module.flags.has(ModuleFlag::kNoReassociate)) return false;
  const UOp* store = body.root->src(0);
  ShapeMap shapes(module, *body.context);
  const UOp* sum = store->src(1);
  std::vector<const UOp*> moved;
  for (; sum->op == Op::kReshape || sum->op == Op::kPermute; sum = sum->src(0))
    moved.push_back(sum);
  if (sum->op != Op::kReduceAxis || sum->dtype.scalar() != Scalar::kF32) return false;
  const std::optional<SoftmaxProduct> p = FindSoftmaxProduct(sum, shapes);
  if (!p || !Pays(*p, shapes, target)) return false;
  Boundary boundary(shapes);
  if (!boundary.Find(*p)) return false;
  const int64_t terms = shapes.Of(p->scores)[p->scores_axis].value();
  Builder b(*body.context);
  const UOp* value = Rewriter(module, body, *p, BlockOf(terms, target)).Run();
  body.CarryOver(sum, value);
  for (const UOp* m : llvm::reverse(moved)) {
    value = b.context().Rebuild(m, b.context(), UOpSpan(&value, 1));
  }
  const UOp* result = b.Store(store->src(0), value);
  body.root = b.Sink(UOpSpan(&result, 1));
  return true;
}

}  // namespace tg::kernelize
