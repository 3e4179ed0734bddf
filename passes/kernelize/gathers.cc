#include "passes/kernelize/gathers.h"

#include <optional>
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
#include "passes/kernelize/rewrite_graph.h"
#include "passes/kernelize/uses.h"

namespace tg::kernelize {
namespace {

// Larger expressions are not analysed.
constexpr size_t kMaxNodes = 256;

bool IsComputedInPlace(const UOp* u) { return IsElementwise(u->op) || IsMovement(u->op); }

// The elementwise and movement ops below `u` and their leaves, which those `loaded` are too,
// sources first. Returns an empty list if there are too many.
std::vector<const UOp*> Expression(const UOp* u, const NodeSet& loaded) {
  std::vector<const UOp*> order;
  llvm::SmallPtrSet<const UOp*, 32> seen = {u->src(0)};
  llvm::SmallVector<std::pair<const UOp*, size_t>, 32> stack = {{u->src(0), 0}};
  while (!stack.empty()) {
    auto& [node, next] = stack.back();
    if (!IsComputedInPlace(node) || loaded.Contains(node) || next == node->num_srcs) {
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

// The nodes that depend on an index (an iota). Empty if none of them compares it, which is a quick
// test before the sum is lowered.
llvm::SmallPtrSet<const UOp*, 32> ComparedPlaces(UOpSpan order) {
  llvm::SmallPtrSet<const UOp*, 32> places;
  bool compares = false;
  for (const UOp* u : order) {
    const bool is_place =
        u->op == Op::kIota || (IsComputedInPlace(u) && llvm::any_of(u->srcs(), [&](const UOp* s) {
                                 return places.contains(s);
                               }));
    if (is_place) places.insert(u);
    compares |= u->op == Op::kCmpNe && is_place;
  }
  if (!compares) places.clear();
  return places;
}

// The nodes of `order`, the nodes below sum `u`, sources first, whose elements differ from term to
// term. Returns nullopt if they are read in too many ways.
std::optional<NodeSet> VaryingByTerm(const Module& module, Context& ctx, const UOp* u,
                                     UOpSpan order) {
  ShapeMap shapes(module, ctx);
  UseTable uses(module, ctx, shapes);
  const UseId inside = uses.Inside(uses.Root(u), u);
  const analysis::LoopSet terms = uses.Varies(inside) & ~uses.OuterLoops(u);
  NodeSet varying;
  NodeMap<UseList> node_uses;
  node_uses[u->src(0)] = {inside};
  for (const UOp* v : llvm::reverse(order)) {
    const UseList own = node_uses[v];
    if (own.size() > kMaxNodes) return std::nullopt;
    for (UseId use : own) {
      if ((uses.Varies(use) & terms) != 0) varying.Insert(v);
      if (!IsComputedInPlace(v)) continue;
      const UseId to = IsMovement(v->op) ? uses.Through(use, v) : use;
      for (const UOp* s : v->srcs()) {
        if (!llvm::is_contained(node_uses[s], to)) node_uses[s].push_back(to);
      }
    }
  }
  return varying;
}

}  // namespace

bool Gathers::Is(const UOp* u) {
  if (u->op != Op::kReduceAxis || static_cast<Op>(u->word()) != Op::kAdd) return false;
  if (queried_.Insert(u) && Find(u, NodeSet())) found_.Insert(u);
  return found_.Contains(u);
}

double Gathers::Elements(const UOp* u) const {
  double count = 1;
  for (const Dim& d : shapes_.Of(u)) {
    count *= static_cast<double>(analysis::MaxExtent(module_, ctx_, d));
  }
  return count;
}

std::vector<const UOp*> Gathers::NeedStored(const UOp* u) {
  if (u->op != Op::kReduceAxis || static_cast<Op>(u->word()) != Op::kAdd || Is(u)) return {};
  const std::vector<const UOp*> order = Expression(u, NodeSet());
  const auto places = ComparedPlaces(order);
  if (places.empty()) return {};
  NodeSet reduced;  // computed by reduces
  for (const UOp* v : order) {
    const bool is_reduced =
        IsComputedInPlace(v)
            ? llvm::any_of(v->srcs(), [&](const UOp* s) { return reduced.Contains(s); })
            : v->op == Op::kReduceAxis && !found_.Contains(v);
    if (is_reduced) reduced.Insert(v);
  }
  NodeSet seen, loaded;
  std::vector<const UOp*> values, stack = {u->src(0)};
  while (!stack.empty()) {
    const UOp* v = stack.back();
    stack.pop_back();
    if (!seen.Insert(v)) continue;
    if (places.contains(v)) {
      stack.insert(stack.end(), v->srcs().begin(), v->srcs().end());
    } else if (reduced.Contains(v)) {
      while (IsMovement(v->op)) v = v->src(0);
      // What is computed once for each element may stay where it is.
      if (Elements(v) < Elements(u->src(0)) && loaded.Insert(v)) values.push_back(v);
    }
  }
  if (values.empty() || !Find(u, loaded)) return {};
  return values;
}

bool Gathers::Find(const UOp* u, const NodeSet& loaded) {
  const std::vector<const UOp*> order = Expression(u, loaded);
  if (u->dtype.is_index()) return false;
  const auto places = ComparedPlaces(order);
  if (places.empty()) return false;
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
      size *= analysis::MaxExtent(module_, ctx_, d);
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
    } else if (!loaded.Contains(v) &&
               (IsComputedInPlace(v) || v->op == Op::kConst || v->op == Op::kIota)) {
      srcs.clear();
      for (const UOp* s : v->srcs()) srcs.push_back(map.lookup(s));
      to = ctx.Rebuild(v, ctx_, srcs);
    } else {
      if (v->dtype.is_index()) return false;
      to = b.Load(argument(v));
      const bool is_memory =
          IsStored(v) || v->op == Op::kContiguous || v->op == Op::kAssign || loaded.Contains(v);
      // Another gather runs once, for the term that remains.
      if (!is_memory && !found_.Contains(v)) inner.Insert(to);
    }
    body.push_back(to);
  }
  const UOp* value = map.lookup(u->src(0));
  const UOp* sum = ctx.Rebuild(u, ctx_, UOpSpan(&value, 1));
  const UOp* store = b.Store(out, sum);
  kernel.body.root = b.Sink(UOpSpan(&store, 1));
  const std::optional<NodeSet> varying = VaryingByTerm(module_, ctx, sum, body);
  if (!varying ||
      llvm::any_of(body, [&](const UOp* v) { return inner.Contains(v) && varying->Contains(v); })) {
    return false;
  }
  if (!indices::FoldedReduces(module_, KernelCalls(module_), kernel, AnyGrid()).Contains(sum))
    return false;
  for (const UOp* place : places) {
    if (varying->Contains(map.lookup(place))) in_place_.Insert(place);
  }
  return true;
}

void StoreGathered(const Module& module, Body& body, ShapeMap& shapes, NodeSet& fused,
                   UOpSpan order) {
  Gathers gathers(module, *body.context, shapes);
  NodeSet stored;
  bool any = false;
  for (const UOp* u : order) {
    const std::vector<const UOp*> values = gathers.NeedStored(u);
    if (llvm::any_of(values, [&](const UOp* v) { return fused.Contains(v); })) continue;
    for (const UOp* v : values) any |= stored.Insert(v);
  }
  if (!any) return;
  Context& ctx = *body.context;
  size_t place = 0;
  RewriteGraph(body, fused, order, [&](const UOp* u) -> const UOp* {
    const UOp* original = order[place++];
    return stored.Contains(original) ? ctx.Make(Op::kContiguous, u->dtype, {u}) : nullptr;
  });
}

}  // namespace tg::kernelize
