#include "passes/kernelize/row_softmax.h"

#include <optional>
#include <utility>
#include <vector>

#include "ir/builder.h"
#include "ir/value.h"
#include "llvm/ADT/SmallVector.h"
#include "passes/analysis/kernel_axes.h"
#include "passes/cost/bounds.h"
#include "passes/kernelize/materialization.h"

namespace tg::kernelize {
namespace {

struct RowSoftmax {
  const UOp* sum = nullptr;          // of the products
  const UOp* other = nullptr;        // the products' other factor
  const UOp* exponential = nullptr;  // exp2(c * (scores - greatest))
  const UOp* scores = nullptr;
  const UOp* greatest = nullptr;  // their maximum, or the greater one of it and the sink
  // One more score of each row, that only the sum of the exponentials counts; null: none.
  const UOp* sink = nullptr;
};

const UOp* Moved(const UOp* u) {
  while (IsMovement(u->op) || u->op == Op::kDetach) u = u->src(0);
  return u;
}

bool IsReduceOf(const UOp* u, Op op, const UOp* of) {
  return u->op == Op::kReduceAxis && static_cast<Op>(u->word()) == op && u->src(0) == of;
}

// Sets the scores from exp2 node `e`.
bool MatchExponential(const UOp* e, RowSoftmax& s) {
  if (e->op != Op::kExp2) return false;
  const UOp* x = e->src(0);
  if (x->op == Op::kMul && IsConst(x->src(1))) x = x->src(0);
  if (x->op != Op::kSub) return false;
  s.exponential = e, s.scores = x->src(0), s.greatest = Moved(x->src(1)), s.sink = nullptr;
  if (IsReduceOf(s.greatest, Op::kMax, s.scores)) return true;
  if (s.greatest->op != Op::kMax) return false;
  for (size_t k = 0; k < 2; ++k) {
    if (!IsReduceOf(Moved(s.greatest->src(k)), Op::kMax, s.scores)) continue;
    s.sink = Moved(s.greatest->src(1 - k));
    return true;
  }
  return false;
}

// Whether a value is the sink's exponential.
bool IsOfSink(const UOp* u, const RowSoftmax& s) {
  u = Moved(u);
  if (u->op != Op::kExp2) return false;
  const UOp* x = Moved(u->src(0));
  if (x->op == Op::kMul && IsConst(x->src(1))) x = Moved(x->src(0));
  return x->op == Op::kSub && Moved(x->src(0)) == s.sink && Moved(x->src(1)) == s.greatest;
}

// Whether a value is the sum of the exponentials, with that of the sink, or its reciprocal.
bool IsTotal(const UOp* u, const RowSoftmax& s, bool inverse) {
  u = Moved(u);
  if (inverse) {
    if (u->op != Op::kRecip) return false;
    u = Moved(u->src(0));
  }
  if (!s.sink) return IsReduceOf(u, Op::kAdd, s.exponential);
  if (u->op != Op::kAdd) return false;
  const UOp *a = Moved(u->src(0)), *b = Moved(u->src(1));
  if (!IsReduceOf(a, Op::kAdd, s.exponential)) std::swap(a, b);
  return IsReduceOf(a, Op::kAdd, s.exponential) && IsOfSink(b, s);
}

// The softmax, or the exponentials before their division.
bool MatchSoftmax(const UOp* u, RowSoftmax& s) {
  if (MatchExponential(u, s)) return true;
  if (u->op == Op::kDiv) return MatchExponential(u->src(0), s) && IsTotal(u->src(1), s, false);
  if (u->op != Op::kMul) return false;
  for (size_t k = 0; k < 2; ++k) {
    if (MatchExponential(u->src(k), s) && IsTotal(u->src(1 - k), s, true)) return true;
  }
  return false;
}

std::optional<RowSoftmax> Find(const UOp* u) {
  if (u->op != Op::kReduceAxis || static_cast<Op>(u->word()) != Op::kAdd) return std::nullopt;
  const UOp* product = u->src(0);
  if (product->op != Op::kMul || !product->dtype.is_float()) return std::nullopt;
  for (size_t k = 0; k < 2; ++k) {
    RowSoftmax s{.sum = u, .other = product->src(1 - k)};
    if (MatchSoftmax(Moved(product->src(k)), s)) return s;
  }
  return std::nullopt;
}

class Costs {
 public:
  Costs(const Module& module, const Body& body, ShapeMap& shapes, const passes::Target& target)
      : module_(module), body_(body), shapes_(shapes), target_(target) {}

  // Whether so few rows share the factors, as queries of one token a head, that these would not
  // fill the tiles of a contraction, and computing the exponentials for each vector of products
  // costs less than storing them for one more kernel.
  bool Pays(const RowSoftmax& s) const {
    if (Repeats(s.other) > static_cast<double>(2 * target_.tile_side)) return false;
    const double again = Elements(s.sum->src(0)) / static_cast<double>(target_.AccessWords());
    double weight = 0;
    for (const UOp* u : {s.exponential, s.exponential->src(0), s.exponential->src(0)->src(0)}) {
      weight += passes::OpWeight(u->op);
    }
    const double bytes =
        Elements(s.exponential) * static_cast<double>(ByteSize(s.exponential->dtype.scalar()));
    return cost::ArithmeticSeconds(again * weight, target_) <=
           cost::StoredSeconds(bytes, target_) + cost::LaunchSeconds(1, target_);
  }

 private:
  // How many products read an element of a factor.
  double Repeats(const UOp* u) const {
    double times = 1;
    for (; IsMovement(u->op) || u->op == Op::kCast; u = u->src(0)) {
      if (u->op == Op::kExpand) times *= Elements(u) / Elements(u->src(0));
    }
    return times;
  }
  double Elements(const UOp* u) const {
    double n = 1;
    for (const Dim& d : shapes_.Of(u)) {
      n *= static_cast<double>(analysis::MaxExtent(module_, *body_.context, d));
    }
    return n;
  }

  const Module& module_;
  const Body& body_;
  ShapeMap& shapes_;
  const passes::Target& target_;
};

}  // namespace

int64_t FuseRowSoftmaxes(const Module& module, Body& body, ShapeMap& shapes,
                         const passes::Target& target, NodeSet& fused, UOpSpan order) {
  if (!target.is_gpu || !target.HidesWaits() || !target.has_local) return 0;
  const Costs costs(module, body, shapes, target);
  int64_t found = 0;
  NodeSet inside, stored;
  for (const UOp* u : order) {
    const std::optional<RowSoftmax> s = fused.Contains(u) ? std::nullopt : Find(u);
    if (!s || !costs.Pays(*s)) continue;
    ++found;
    stored.Insert(s->scores);
    const UOp* other = Moved(s->other);
    stored.Insert(other->op == Op::kCast ? Moved(other->src(0)) : other);
    // The products, and what the softmax is made of.
    std::vector<const UOp*> stack = {s->sum->src(0)};
    NodeSet seen;
    while (!stack.empty()) {
      const UOp* v = stack.back();
      stack.pop_back();
      if (v == s->scores || !seen.Insert(v) || IsStored(v)) continue;
      inside.Insert(v);
      if (v == s->other || v == s->sink) continue;
      stack.insert(stack.end(), v->srcs().begin(), v->srcs().end());
    }
  }
  if (found == 0) return 0;
  Builder b(*body.context);
  NodeMap<const UOp*> map;
  NodeSet now;
  for (const UOp* u : order) {
    llvm::SmallVector<const UOp*, 8> srcs;
    for (const UOp* x : u->srcs()) srcs.push_back(map.Get(x));
    const UOp* to = b.context().Rebuild(u, b.context(), {srcs.data(), srcs.size()});
    if (fused.Contains(u) || inside.Contains(u)) now.Insert(to);
    body.CarryOver(u, to);
    const bool stores =
        stored.Contains(u) && !IsStored(u) && u->num_srcs > 0 && u->op != Op::kContiguous;
    map[u] = stores ? b.context().Make(Op::kContiguous, to->dtype, {to}) : to;
  }
  fused = std::move(now);
  body.root = map.Get(body.root);
  return found;
}

}  // namespace tg::kernelize
