#include "passes/kernelize/closed_form.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "ir/value.h"
#include "llvm/ADT/DenseMap.h"
#include "passes/indices/lower_indices.h"
#include "passes/kernelize/copy_nodes.h"

namespace tg::kernelize {
namespace {

// All integers up to this one are exact in type t. Returns 0 for types that are not floats.
double MostExact(DType t) {
  switch (t.scalar()) {
    case Scalar::kF64:
      return INT32_MAX;
    case Scalar::kF32:
      return 1 << 24;
    case Scalar::kF16:
      return 1 << 11;
    case Scalar::kBF16:
      return 1 << 8;
    default:
      return 0;
  }
}

}  // namespace

passes::Target AnyGrid() {
  passes::Target target = passes::TargetPresets()[0];
  for (int64_t& n : target.max_groups) n = INT64_MAX;
  return target;
}

const UOp* ClosedForms::Of(const UOp* u) {
  if (!queried_.Insert(u)) return known_.Get(u);
  if (!u->dtype.is_float()) return known_[u] = Find(u);
  const Whole whole = WholeOf(u);
  const UOp* form = whole.node ? Find(whole.node) : nullptr;
  if (!form) return nullptr;
  const UOp* value = b_.Cast(form, u->dtype);
  seen_.Insert(value);
  whole_[value] = {form, whole.most};
  return known_[u] = value;
}

ClosedForms::Whole ClosedForms::WholeOf(const UOp* u) {
  std::vector<const UOp*> order;
  AppendPostOrder(UOpSpan(&u, 1), seen_, order);
  for (const UOp* v : order) whole_[v] = OneWhole(v);
  return whole_.Get(u);
}

ClosedForms::Whole ClosedForms::OneWhole(const UOp* u) {
  if (!u->dtype.is_float() || u->dtype.lanes() != 1) return {};
  Whole out;
  if (u->op == Op::kConst) {
    const double v = DoubleFromBits(u->dtype.scalar(), u->word());
    // -0.0 has no integer form. (A sum that starts at +0.0 never gives -0.0.)
    if (std::trunc(v) != v || (v == 0 && std::signbit(v))) return {};
    out.most = std::abs(v);
  } else {
    for (const UOp* s : u->srcs()) {
      if (!whole_.Get(s).node) return {};
      out.most += whole_.Get(s).most;
    }
    if (u->op == Op::kReduceAxis && static_cast<Op>(u->word()) == Op::kAdd) {
      const Shape &from = shapes_.Of(u->src(0)), &to = shapes_.Of(u);
      if (!IsStatic(from) || NumElements(to) == 0) return {};
      out.most *= static_cast<double>(NumElements(from)) / static_cast<double>(NumElements(to));
    } else if (u->num_srcs == 0 || (u->op != Op::kAdd && !IsMovement(u->op))) {
      return {};
    }
  }
  if (!(out.most <= MostExact(u->dtype))) return {};
  if (u->op == Op::kConst) {
    out.node = b_.Const(kI32, DoubleFromBits(u->dtype.scalar(), u->word()));
  } else {
    std::vector<const UOp*> srcs;
    for (const UOp* s : u->srcs()) srcs.push_back(whole_.Get(s).node);
    out.node = b_.context().Make(u->op, kI32, srcs, u->attr);
  }
  return out;
}

const UOp* ClosedForms::Find(const UOp* u) {
  const Shape& to = shapes_.Of(u);
  if (!IsStatic(to)) return nullptr;
  int axes = 0;
  int64_t size = 1;
  for (const Dim& d : to) {
    axes += !d.Is(1);
    size *= d.value();
  }
  // Elements of type index are in no memory.
  if (axes > 3 || size == 0 || u->dtype.is_index()) return nullptr;
  Kernel kernel;
  kernel.name = "closed_form";
  kernel.stage = Stage::kKernel;
  Context& ctx = *kernel.body.context;
  Builder b(ctx);
  NodeMap<const UOp*> map;
  const UOp* value = CopyNodes(u, b_.context(), ctx, map);
  const UOp* out = b.DefineGlobal(0, DType::Pointer(u->dtype.scalar(), size, AddrSpace::kGlobal));
  const UOp* store = b.Store(b.Reshape(out, to), value);
  kernel.body.root = b.Sink(UOpSpan(&store, 1));
  const passes::Target target = AnyGrid();
  simplify::Simplifier simplifier(ctx, &module_);
  if (!indices::LowerIndices(module_, KernelCalls(module_), kernel, target, simplifier).ok() ||
      !rewrite::RewriteBody(kernel.body, simplifier.rewriter()).ok()) {
    return nullptr;
  }
  const UOp* root = kernel.body.root;
  if (root->num_srcs != 1 || root->src(0)->op != Op::kStore) return nullptr;
  return ReadBack(kernel.body, root->src(0)->src(1), to);
}

const UOp* ClosedForms::ReadBack(const Body& body, const UOp* value, const Shape& to) {
  // Dimension 0 of the grid is the last axis that is not 1.
  std::vector<size_t> axis_of;
  for (size_t k = to.size(); k-- > 0;) {
    if (!to[k].Is(1)) axis_of.push_back(k);
  }
  llvm::DenseMap<const UOp*, const UOp*> map;
  std::vector<const UOp*> srcs;
  for (const UOp* v : PostOrder(value)) {
    srcs.clear();
    for (const UOp* s : v->srcs()) srcs.push_back(map.lookup(s));
    if (v->op == Op::kSpecial) {
      const auto dim = static_cast<size_t>(v->word());
      if (dim >= axis_of.size()) return nullptr;
      Shape row(to.size(), 1);
      row[axis_of[dim]] = to[axis_of[dim]];
      const UOp* place = b_.Reshape(b_.Iota(row[axis_of[dim]].value()), row);
      map[v] = row == to ? place : b_.Expand(place, to);
    } else if (v->op == Op::kConst || IsElementwise(v->op)) {
      map[v] = b_.context().Rebuild(v, *body.context, srcs);
    } else {
      return nullptr;
    }
  }
  const UOp* form = map.lookup(value);
  if (shapes_.Of(form).empty() && !to.empty()) {
    form = b_.Expand(b_.Reshape(form, Shape(to.size(), 1)), to);
  }
  return form;
}

}  // namespace tg::kernelize
