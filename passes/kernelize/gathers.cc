#include "passes/kernelize/gathers.h"

#include <vector>

#include "ir/builder.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/ADT/SmallVector.h"
#include "passes/analysis/kernel_axes.h"
#include "passes/indices/lower_indices.h"
#include "passes/kernelize/closed_form.h"
#include "passes/kernelize/copy_nodes.h"
#include "passes/kernelize/materialization.h"
#include "passes/kernelize/uses.h"

namespace tg {
namespace {

// Larger expressions are not analysed.
constexpr size_t kMaxNodes = 256;

bool IsComputedInPlace(const UOp* u) { return IsElementwise(u->op) || IsMovement(u->op); }

// The elementwise and movement ops below `u` and their leaves, sources first. Returns an empty list
// if there are too many.
std::vector<const UOp*> Expression(const UOp* u) {
  std::vector<const UOp*> order;
  llvm::SmallPtrSet<const UOp*, 32> seen = {u->src(0)};
  llvm::SmallVector<std::pair<const UOp*, size_t>, 32> stack = {{u->src(0), 0}};
  while (!stack.empty()) {
    auto& [node, next] = stack.back();
    if (!IsComputedInPlace(node) || next == node->num_srcs) {
      order.push_back(node);
      stack.pop_back();
      continue;
    }
    const UOp* s = node->src(next++);
    if (seen.insert(s).second) stack.push_back({s, 0});
    if (order.size() + stack.size() > kMaxNodes) return {};
  }
  return order;
}

// Whether some index (an expression of iota) is compared with anything. A quick test before the sum
// is lowered.
bool ComparesPlaces(UOpSpan order) {
  llvm::SmallPtrSet<const UOp*, 32> places;  // made of iota
  bool compares = false;
  for (const UOp* u : order) {
    const bool is_place =
        u->op == Op::kIota || (IsComputedInPlace(u) && llvm::any_of(u->srcs(), [&](const UOp* s) {
                                 return places.contains(s);
                               }));
    if (is_place) places.insert(u);
    compares |= u->op == Op::kCmpNe && is_place;
  }
  return compares;
}

// Whether some reduce in `inner` must be computed for each term of `u`. `order`: the nodes below
// `u`, sources first.
bool NeedsForEachTerm(const Module& module, Context& ctx, const UOp* u, UOpSpan order,
                      const NodeSet& inner) {
  ShapeMap shapes(module, ctx);
  UseTable uses(module, ctx, shapes);
  const UseId inside = uses.Inside(uses.Root(u), u);
  const LoopSet terms = uses.Varies(inside) & ~uses.OuterLoops(u);
  NodeMap<UseList> node_uses;
  node_uses[u->src(0)] = {inside};
  for (const UOp* v : llvm::reverse(order)) {
    const UseList own = node_uses[v];
    if (own.size() > kMaxNodes) return true;
    for (UseId use : own) {
      if (inner.Contains(v) && (uses.Varies(use) & terms) != 0) return true;
      if (!IsComputedInPlace(v)) continue;
      const UseId to = IsMovement(v->op) ? uses.Through(use, v) : use;
      for (const UOp* s : v->srcs()) {
        if (!llvm::is_contained(node_uses[s], to)) node_uses[s].push_back(to);
      }
    }
  }
  return false;
}

}  // namespace

bool Gathers::Is(const UOp* u) {
  if (u->op != Op::kReduceAxis || static_cast<Op>(u->word()) != Op::kAdd) return false;
  if (queried_.Insert(u) && Find(u)) found_.Insert(u);
  return found_.Contains(u);
}

bool Gathers::Find(const UOp* u) {
  const std::vector<const UOp*> order = Expression(u);
  if (u->dtype.is_index() || !ComparesPlaces(order)) return false;
  const auto is_empty = [](const Dim& d) { return d.Is(0); };
  for (const UOp* v : order) {
    if (llvm::any_of(shapes_.Of(v), is_empty)) return false;
  }
  // Builds a kernel for the sum, in which all leaves are loaded.
  Kernel kernel;
  kernel.name = "gather";
  kernel.stage = Stage::kKernel;
  Context& ctx = *kernel.body.context;
  Builder b(ctx);
  int64_t slot = 0;
  NodeMap<const UOp*> extents;  // symbolic ones in `ctx`
  const auto argument = [&](const UOp* v) {
    Shape shape = shapes_.Of(v);
    int64_t size = 1;
    Dim count = 1;
    for (Dim& d : shape) {
      size *= MaxExtent(module_, ctx_, d);
      if (d.is_symbolic()) d = CopyNodes(d.symbol(), ctx_, ctx, extents);
      count = MulDims(ctx, count, d);
    }
    const DType t = DType::Pointer(v->dtype.scalar(), size, AddrSpace::kGlobal);
    const UOp* pointer = b.DefineGlobal(slot++, t);
    // As in kernel_body.cc: a buffer of symbolic size is allocated for the greatest size, and its
    // elements come first.
    if (count.is_symbolic()) pointer = b.Shrink(pointer, {{0, count}});
    return b.Reshape(pointer, shape);
  };
  const UOp* out = argument(u);
  llvm::SmallDenseMap<const UOp*, const UOp*, 32> map;
  std::vector<const UOp*> srcs, body;
  NodeSet inner;  // loads of what other reduces compute
  for (const UOp* v : order) {
    const UOp*& to = map[v];
    if (v->op == Op::kVar || v->op == Op::kBind) {
      const UOp* var = v->op == Op::kBind ? v->src(0) : v;
      to = b.Var(ctx_.String(static_cast<StringId>(var->word())));
    } else if (IsComputedInPlace(v) || v->op == Op::kConst || v->op == Op::kIota) {
      srcs.clear();
      for (const UOp* s : v->srcs()) srcs.push_back(map.lookup(s));
      to = ctx.Rebuild(v, ctx_, srcs);
    } else {
      if (v->dtype.is_index()) return false;
      to = b.Load(argument(v));
      if (!IsStored(v) && v->op != Op::kContiguous && v->op != Op::kAssign) inner.Insert(to);
    }
    body.push_back(to);
  }
  const UOp* value = map.lookup(u->src(0));
  const UOp* sum = ctx.Rebuild(u, ctx_, UOpSpan(&value, 1));
  const UOp* store = b.Store(out, sum);
  kernel.body.root = b.Sink(UOpSpan(&store, 1));
  return !NeedsForEachTerm(module_, ctx, sum, body, inner) &&
         FoldedReduces(module_, KernelCalls(module_), kernel, AnyGrid()).Contains(sum);
}

}  // namespace tg
