#include "passes/loop_nest/loop_nest.h"

#include <algorithm>
#include <map>

#include "absl/strings/str_cat.h"
#include "base/arithmetic.h"
#include "base/check.h"
#include "ir/tuple.h"
#include "llvm/ADT/STLExtras.h"
#include "passes/loop_nest/output_staging.h"

namespace tg::loop_nest {

bool LoopNest::FindInPlace() const {
  for (int64_t w : written) {
    if (llvm::is_contained(read, w)) return true;
  }
  for (const UOp* call : calls->Of(kernel)) {
    for (int64_t w : written) {
      if (w >= call->num_srcs) continue;
      const UOp* buffer = BufferOf(call->src(static_cast<size_t>(w)));
      for (int64_t i = 0; i < call->num_srcs; ++i) {
        if (i != w && BufferOf(call->src(static_cast<size_t>(i))) == buffer) return true;
      }
    }
  }
  return false;
}

AxisList LoopNest::AxesOf(const UOp* node) const {
  AxisList out;
  for (size_t i = 0; i < axes.size(); ++i) {
    const analysis::BaseAxis& own = base[axes[i].base];
    if (own.reduce == node || own.staged == node) out.push_back(i);
  }
  return out;
}

analysis::LoopSet LoopNest::VariesOf(const UOp* staged) const {
  for (size_t n = 0; n < base.size(); ++n) {
    if (base[n].staged == staged) return varies[n];
  }
  return 0;
}

std::vector<Axis> LoopNest::ToAxes() const {
  std::vector<Axis> out;
  for (const LoopAxis& a : axes) {
    out.push_back({a.name, a.max_size, a.kind, a.size.is_symbolic()});
  }
  return out;
}

bool LoopNest::IsMatrixLane(std::string_view name) const {
  if (matrices.empty()) return false;
  return matrices[0].row_lane == name || matrices[0].column_lane == name;
}

int64_t LoopNest::GroupSize() const {
  int64_t n = 1;
  for (const LoopAxis& a : axes) {
    if (a.HasItems()) n = SaturatingMul(n, a.max_size);
  }
  return n;
}

AxisList LoopNest::PaddedResults() const {
  AxisList out;
  for (size_t i = 0; i < base.size(); ++i) {
    if (base[i].IsStored() && maps[i].IsPadded()) out.push_back(i);
  }
  return out;
}

int LoopNest::FindAxis(std::string_view name) const {
  for (size_t i = 0; i < axes.size(); ++i) {
    if (axes[i].name == name) return static_cast<int>(i);
  }
  return -1;
}

bool LoopNest::IsOutermost(size_t axis) const {
  for (size_t i = 0; i < base.size(); ++i) {
    const bool part = (varies[axis] & analysis::LoopBit(i)) != 0;
    // The inner axes of a tuple are loops inside of the one over its terms.
    const bool inner = base[i].staged && base[axis].reduce &&
                       base[axis].reduce->op == Op::kReduceTuple &&
                       IsSameTuple(base[i].staged, base[axis].reduce);
    if (part && !base[i].IsStored() && !inner) return false;
  }
  return true;
}

size_t LoopNest::AxisNamed(std::string_view name) const {
  const int at = FindAxis(name);
  TG_CHECK(at >= 0);
  return static_cast<size_t>(at);
}

int64_t LoopNest::UpcastSize() const {
  int64_t n = 1;
  for (const LoopAxis& a : axes) {
    if (a.kind == AxisKind::kUpcast || a.kind == AxisKind::kVector) {
      n = SaturatingMul(n, a.max_size);
    }
  }
  return n;
}

namespace {

// Adds the reduces of the stored value's type that are reached from it through elementwise ops,
// reshapes, permutes and expands only. The output can hold their partial results.
void FindStoredReduces(const UOp* store, NodeSet& out) {
  NodeSet seen;
  std::vector<const UOp*> stack = {store->src(1)};
  while (!stack.empty()) {
    const UOp* u = stack.back();
    stack.pop_back();
    if (!seen.Insert(u)) continue;
    if (u->op == Op::kReduceAxis) {
      if (u->dtype == store->src(1)->dtype) out.Insert(u);
    } else if ((IsElementwise(u->op) && u->op != Op::kStaged && u->op != Op::kPacked) ||
               u->op == Op::kReshape || u->op == Op::kPermute || u->op == Op::kExpand) {
      stack.insert(stack.end(), u->srcs().begin(), u->srcs().end());
    }
  }
}

// Adds the number of the kernel argument that `pointer` points into, unless `out` has it.
void AddArgument(const UOp* pointer, std::vector<int64_t>& out) {
  while (pointer->num_srcs > 0) pointer = pointer->src(0);
  if (pointer->op != Op::kDefineGlobal || llvm::is_contained(out, pointer->word())) return;
  out.push_back(pointer->word());
}

}  // namespace

LoopNest PlainLoopNest(const Module& module, const KernelCalls& calls, const Kernel& kernel,
                       ShapeMap& shapes) {
  LoopNest nest;
  const std::vector<const UOp*> order = kernel.body.Order();
  nest.base = analysis::BaseAxes(module, kernel, shapes, order);
  analysis::Dependence dependence = analysis::FindDependence(order, nest.base, shapes);
  nest.varies = std::move(dependence.varies);
  nest.packed = std::move(dependence.packed);
  nest.reads = dependence.reads;
  nest.calls = &calls;
  nest.flags = module.flags;
  nest.kernel = kernel.name;
  for (const UOp* u : order) {
    if (u->op == Op::kLoad) AddArgument(u->src(0), nest.read);
  }
  for (const UOp* store : kernel.body.root->srcs()) AddArgument(store->src(0), nest.written);
  nest.stores = kernel.body.root->num_srcs;
  NodeSet stored;
  if (nest.stores == 1) FindStoredReduces(kernel.body.root->src(0), stored);
  nest.axes.reserve(nest.base.size());
  nest.maps.reserve(nest.base.size());
  for (size_t i = 0; i < nest.base.size(); ++i) {
    const analysis::BaseAxis& b = nest.base[i];
    LoopAxis& axis = nest.axes.emplace_back();
    axis.name = b.name;
    axis.size = b.size;
    axis.max_size = b.max_size;
    axis.kind = analysis::KindOf(b);
    axis.base = i;
    nest.maps.push_back({.digits = {{i, 1}}});
    const bool alone = b.reduce && dependence.reads[i] == 1 && stored.Contains(b.reduce);
    nest.accumulates.push_back(alone && nest.IsOutermost(i));
  }
  nest.held_by_output = FindOutputStaging(kernel, nest);
  return nest;
}

}  // namespace tg::loop_nest
