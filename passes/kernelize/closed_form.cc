#include "passes/kernelize/closed_form.h"

#include <vector>

#include "llvm/ADT/DenseMap.h"
#include "passes/kernelize/copy_nodes.h"
#include "passes/lower/lower.h"

namespace tg {
namespace {

// Every axis that is not 1 as one dimension of the grid, however long.
Target AnyGrid() {
  Target target = TargetPresets()[0];
  for (int64_t& n : target.max_groups) n = INT64_MAX;
  return target;
}

}  // namespace

const UOp* ClosedForms::Of(const UOp* u) {
  if (asked_.Insert(u)) known_[u] = Find(u);
  return known_.Get(u);
}

const UOp* ClosedForms::Find(const UOp* u) {
  const Shape& to = shapes_.Of(u);
  if (!IsStatic(to) || u->dtype.is_float()) return nullptr;
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
  const Target target = AnyGrid();
  if (!LowerKernel(module_, kernel, target).ok()) return nullptr;
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

}  // namespace tg
