#include "passes/kernelize/online_softmax.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "base/arithmetic.h"
#include "ir/builder.h"
#include "ir/matrix/matrix_instruction.h"
#include "ir/value.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "passes/analysis/extents.h"
#include "passes/analysis/kernel_axes.h"
#include "passes/cost/bounds.h"
#include "passes/cost/tile_cost.h"
#include "passes/directives/directives.h"
#include "passes/directives/in_two_parts.h"
#include "passes/kernelize/expression_cost.h"
#include "passes/kernelize/materialization.h"
#include "passes/kernelize/softmax_blocks.h"
#include "passes/kernelize/softmax_product.h"

namespace tg::kernelize {
namespace {

// Sizes of a graph or of a kernel. Symbolic ones count as their greatest values.
struct Sizes {
  const Module& module;
  const Context& context;
  ShapeMap& shapes;

  int64_t Most(const Dim& extent) const { return analysis::MaxExtent(module, context, extent); }
  double Elements(const UOp* u) const {
    double n = 1;
    for (const Dim& extent : shapes.Of(u)) n *= static_cast<double>(Most(extent));
    return n;
  }
  const Dim& Terms(const SoftmaxProduct& p) const { return shapes.Of(p.scores)[p.scores_axis]; }
};

// The greatest number of terms that divides the axis, has at least two blocks, and whose operands
// and scores fit into a core's nearest cache together. 0 if it is below 16. A number that no such
// block divides for certain is padded if it is symbolic.
int64_t BlockOf(const Dim& terms, const Sizes& sizes, const passes::Target& target) {
  const int64_t bytes_a_term = 64 * 4 * 2 * 2;  // both products' operands, and as much for scores
  int64_t most = 16;
  while (2 * most * bytes_a_term <= 2 * target.near_cache_bytes) most *= 2;
  const int64_t factor = analysis::ExtentsOf(terms).number;
  most = std::min(most, sizes.Most(terms) / 2);
  for (int64_t block = most; block >= 16; --block) {
    if (factor % block == 0) return block;
  }
  return terms.is_symbolic() && most >= 16 ? most : 0;
}

bool IsNarrow(const UOp* u) {
  return u->dtype.scalar() == Scalar::kF16 || u->dtype.scalar() == Scalar::kBF16;
}

// What a fused product reads: nodes below which nothing is computed in its kernel. False if the
// scores are no sums of products.
class Boundary {
 public:
  Boundary(const Sizes& sizes, bool is_gpu) : shapes_(&sizes.shapes), is_gpu_(is_gpu) {}

  bool Find(const SoftmaxProduct& p) {
    Add(p.other(), /*scales=*/false);
    if (p.sink) Add(p.sink, /*scales=*/false);
    // The scores: arithmetic down to the reduces, of which those with as many results are computed
    // for each score.
    const analysis::Extents size = analysis::ExtentsOf(shapes_->Of(p.scores));
    std::vector<const UOp*> stack = {p.scores};
    NodeSet seen;
    while (!stack.empty()) {
      const UOp* u = Unwrapped(stack.back(), p.wide);
      stack.pop_back();
      if (!seen.Insert(u)) continue;
      inside.push_back(u);
      if (IsStored(u) || u->num_srcs == 0) continue;
      const bool counts = u->op == Op::kCast && u->src(0)->dtype.is_index();
      if (IsMovement(u->op) || (IsElementwise(u->op) && u->op != Op::kCast) || counts) {
        stack.insert(stack.end(), u->srcs().begin(), u->srcs().end());
      } else if (u->op == Op::kReduceAxis && analysis::ExtentsOf(shapes_->Of(u)) == size &&
                 u->src(0)->op == Op::kMul) {
        inside.push_back(u->src(0));
        for (const UOp* x : u->src(0)->srcs()) Add(x, /*scales=*/true);
        sums.push_back(u);
      } else {
        inside.pop_back();
        Add(u, /*scales=*/false);
      }
    }
    return !sums.empty();
  }

  std::vector<const UOp*> inside;  // nodes of the kernel that the scores are made of
  std::vector<const UOp*> outside;
  std::vector<const UOp*> sums;  // of products that are scores

 private:
  // The value behind movement ops, and on a GPU behind casts from halves, which its matrix
  // instructions widen. `scales`: a factor of scores, whose constant factor goes to them.
  void Add(const UOp* u, bool scales) {
    const auto widens = [&] { return is_gpu_ && u->op == Op::kCast && IsNarrow(u->src(0)); };
    for (; IsMovement(u->op) || widens(); u = u->src(0)) inside.push_back(u);
    while (u->op == Op::kMul && (scales || (is_gpu_ && IsNarrow(u))) && IsConst(u->src(1))) {
      inside.push_back(u);
      for (u = u->src(0); IsMovement(u->op); u = u->src(0)) inside.push_back(u);
    }
    if (!llvm::is_contained(outside, u)) outside.push_back(u);
  }

  ShapeMap* shapes_;
  bool is_gpu_;
};

// The greatest extent of the products' axes along which the other factor is the same, if padding it
// to a multiple of `of` adds at most a third; 0: there is none.
int64_t RowsOf(const SoftmaxProduct& p, const Sizes& sizes, int64_t of) {
  int64_t rows = 0;
  const Shape& whole = sizes.shapes.Of(p.product());
  for (size_t k = 0; k < whole.size(); ++k) {
    const UOp* below = nullptr;
    const bool shares =
        k != p.axis && !p.repeats[k] && IsRepeatedAlong(p.other(), k, sizes.shapes, &below, true);
    const int64_t size = sizes.Most(whole[k]);
    if (shares && 3 * RoundUp(size, of) <= 4 * size) rows = std::max(rows, size);
  }
  return rows;
}

// The terms of a block where both products are matrix instructions (schedule/gpu_tuple.cc): a power
// of two, to a multiple of which the axis is padded by at most a quarter, and whose operands fit
// into local memory several times, as they are copied ahead. 0 if it is below 16, or if a work-item
// has too few registers for its part.
int64_t MatrixBlockOf(const SoftmaxProduct& p, const Boundary& boundary, const Sizes& sizes,
                      const passes::Target& target) {
  constexpr int64_t kMostTerms = 64, kLeastTerms = 16, kCopies = 3;
  const std::optional<Scalar> type = MatrixTypeOf(p);
  if (!type || !target.HasMatrixInstructions() || !target.HasAsyncCopies() ||
      boundary.sums.size() != 1) {
    return 0;
  }
  const MatrixInstruction instruction =
      *MatrixInstructionFor(*type, *type, p.sum->dtype.scalar(), sizes.module.flags);
  const UOp* sum = boundary.sums[0];
  if (sum->list(1).size() != 1 || sum->dtype != p.sum->dtype) return 0;
  for (const UOp* factor : sum->src(0)->srcs()) {
    while (IsMovement(factor->op)) factor = factor->src(0);
    if (*type != factor->dtype.scalar() && factor->op == Op::kCast) factor = factor->src(0);
    if (*type != factor->dtype.scalar()) return 0;
  }
  const auto axis = static_cast<size_t>(sum->list(1)[0]);
  // Terms beyond the last one are zeros.
  const Dim& of_sum = sizes.shapes.Of(sum->src(0))[axis];
  if (of_sum.is_symbolic()) return 0;
  const int64_t depth = of_sum.value();
  const int64_t width = RoundUp(depth, instruction.k);
  int64_t results = 1, axes = 0;
  const Shape& whole = sizes.shapes.Of(p.product());
  for (size_t k = 0; k < whole.size(); ++k) {
    if (!p.repeats[k] || whole[k].Is(1)) continue;
    if (whole[k].is_symbolic()) return 0;
    results = whole[k].value();
    ++axes;
  }
  if (axes != 1 || results % instruction.n != 0 || depth % instruction.n != 0 ||
      RowsOf(p, sizes, instruction.m) == 0) {
    return 0;
  }
  // What a work-item computes of a row is a register tile in at most two steps.
  const auto is_tile = [](int64_t tiles) {
    return directive::InnerOfTwo(tiles, directive::Upcast::kMost) > 0;
  };
  if (!is_tile(results / instruction.n) || !is_tile(width / instruction.n)) return 0;
  const int64_t terms = sizes.Most(sizes.Terms(p));
  int64_t block = kMostTerms;
  while (block >= kLeastTerms &&
         (block >= terms || 4 * RoundUp(terms, block) > 5 * terms ||
          kCopies * block * (width + results) * int64_t{ByteSize(*type)} > target.local_memory)) {
    block /= 2;
  }
  const int64_t registers = cost::TupleRegisters(1, block, results, width, instruction, target);
  return block >= kLeastTerms && registers <= 2 * target.vector_registers ? block : 0;
}

// Whether one kernel takes less time than several with the scores in memory. Its lanes are results
// along an axis of the scores along which the other factor is the same.
bool Pays(const SoftmaxProduct& p, const Sizes& sizes, const passes::Target& target) {
  if (!target.HasVectors() || BlockOf(sizes.Terms(p), sizes, target) == 0) return false;
  const int64_t rows = std::max<int64_t>(1, RowsOf(p, sizes, 1));
  const double elements = sizes.Elements(p.scores), products = sizes.Elements(p.product());
  const auto lanes = static_cast<double>(target.alu_width / 4);
  const double full =
      static_cast<double>(rows) / (lanes * std::ceil(static_cast<double>(rows) / lanes));
  // Both products, where lanes are left idle; the scores and their softmax written and read again.
  const double idle = cost::IdleSeconds(cost::ArithmeticSeconds(2 * 2 * products, target), full);
  const double bytes = elements * ByteSize(p.scores->dtype.scalar());
  return cost::ThroughMemorySeconds(bytes, target) + cost::LaunchSeconds(1, target) > idle;
}

// Whether a factor is read in windows, that is, in parts of what is repeated.
bool HasWindows(const UOp* factor) {
  bool cut = false;
  for (; IsMovement(factor->op); factor = factor->src(0)) {
    cut |= factor->op == Op::kShrink;
    if (cut && factor->op == Op::kExpand) return true;
  }
  return false;
}

// The terms of a block; 0: plain ops take less time. Sets `boundary`.
int64_t Block(const SoftmaxProduct& p, const Sizes& sizes, const passes::Target& target,
              Boundary& boundary) {
  if (!boundary.Find(p)) return 0;
  // The factors of scores are staged a row at a time. Those of a convolution have no rows.
  const bool convolves = llvm::any_of(
      boundary.sums, [](const UOp* sum) { return llvm::any_of(sum->src(0)->srcs(), &HasWindows); });
  if (convolves) return 0;
  if (target.is_gpu) return MatrixBlockOf(p, boundary, sizes, target);
  if (p.sum->dtype.scalar() != Scalar::kF32 || !Pays(p, sizes, target)) return 0;
  return BlockOf(sizes.Terms(p), sizes, target);
}

// Whether values are wider than halves on the way to a GPU's matrix instructions.
bool IsWide(const Module& module, const passes::Target& target) {
  return target.is_gpu && module.flags.has(ModuleFlag::kWideHalves);
}

std::optional<SoftmaxProduct> FindProduct(const UOp* u, ShapeMap& shapes, const Module& module,
                                          const passes::Target& target) {
  std::optional<SoftmaxProduct> p = FindSoftmaxProduct(u, shapes, IsWide(module, target));
  if (p) p->matrices = target.HasMatrixInstructions() && target.HasAsyncCopies();
  return p;
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
  const bool wide = IsWide(module, target);
  const Sizes sizes = {module, *body.context, shapes};
  NodeMap<int> users;
  std::vector<std::pair<SoftmaxProduct, Boundary>> found;
  for (const UOp* u : order) {
    for (const UOp* s : u->srcs()) ++users[s];
    std::optional<SoftmaxProduct> p = FindProduct(u, shapes, module, target);
    if (!p) continue;
    Boundary boundary(sizes, target.is_gpu);
    if (Block(*p, sizes, target, boundary) == 0) continue;
    found.emplace_back(*std::move(p), std::move(boundary));
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
    // Down to the scores: roundings that are left out.
    bool casts_alone = true;
    NodeSet seen;
    std::vector<const UOp*> stack = {p.sum};
    while (wide && !stack.empty()) {
      const UOp* v = stack.back();
      stack.pop_back();
      if (v == p.scores || v == p.other() || !seen.Insert(v)) continue;
      casts_alone &= v->op != Op::kCast || alone(v);
      stack.insert(stack.end(), v->srcs().begin(), v->srcs().end());
    }
    return !(casts_alone && alone(p.softmax) && alone(p.exponential) && alone(p.total) &&
             alone(p.maximum) && alone(p.scores) && alone(p.product()));
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
      const bool rounds = target.is_gpu && u->op == Op::kCast && IsNarrow(u);
      if (u->op == Op::kPermute || rounds) last = u;
      if (u->op != Op::kPermute && !rounds && !(u->op == Op::kReshape && MovesWholeAxes(u, shapes)))
        break;
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
  const auto passes = [&](const UOp* u) {
    return u->op == Op::kReshape || u->op == Op::kPermute || (u->op == Op::kCast && IsNarrow(u));
  };
  for (; passes(sum); sum = sum->src(0)) moved.push_back(sum);
  const std::optional<SoftmaxProduct> p = FindProduct(sum, shapes, module, target);
  if (!p) return false;
  const Sizes sizes = {module, *body.context, shapes};
  Boundary boundary(sizes, target.is_gpu);
  const int64_t block = Block(*p, sizes, target, boundary);
  if (block == 0) return false;
  Builder b(*body.context);
  const UOp* value = SoftmaxInBlocks(module, body, *p, block);
  body.CarryOver(sum, value);
  for (const UOp* m : llvm::reverse(moved)) {
    llvm::SmallVector<const UOp*, 8> srcs(m->srcs().begin(), m->srcs().end());
    srcs[0] = value;
    value = b.context().Rebuild(m, b.context(), {srcs.data(), srcs.size()});
  }
  const UOp* result = b.Store(store->src(0), value);
  body.root = b.Sink(UOpSpan(&result, 1));
  return true;
}

}  // namespace tg::kernelize
