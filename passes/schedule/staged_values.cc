#include "passes/schedule/staged_values.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "ir/builder.h"
#include "ir/check.h"
#include "llvm/ADT/STLExtras.h"

namespace tg {
namespace {

// The reshapes and permutes that loads of a body go through.
class LoadedValues {
 public:
  LoadedValues(const Body& body, ShapeMap& shapes) : shapes_(shapes) {
    NodeSet used;
    for (const UOp* u : body.Order()) {
      for (const UOp* s : u->srcs()) only_user_[s] = used.Insert(s) ? u : nullptr;
    }
  }
  // The load, or a value that only reshapes and ops of this kind made of it: the one with most
  // axes, so that lanes are an axis by themselves. An argument may have one long axis.
  const UOp* WithMostAxes(const UOp* load, Op kind) const {
    const UOp* best = load;
    for (const UOp* u = load; u && (u == load || u->op == Op::kReshape || u->op == kind);) {
      if (Axes(u) > Axes(best)) best = u;
      u = only_user_.Get(u);
    }
    return best;
  }

 private:
  ptrdiff_t Axes(const UOp* u) const {
    return llvm::count_if(shapes_.Of(u), [](const Dim& d) { return !d.Is(1); });
  }

  ShapeMap& shapes_;
  NodeMap<const UOp*> only_user_;  // null: there are several
};

// Rebuilds a body: each node becomes f(node of the clone, node over its new sources).
template <typename F>
void RewriteAs(Body& body, const Body& clone, F&& f) {
  const std::vector<const UOp*> order = body.Order(), cloned = clone.Order();
  TG_CHECK(order.size() == cloned.size());
  NodeMap<const UOp*> map;
  std::vector<const UOp*> srcs;
  for (size_t n = 0; n < order.size(); ++n) {
    const UOp* u = order[n];
    srcs.clear();
    for (const UOp* s : u->srcs()) srcs.push_back(map.Get(s));
    const UOp* same = body.context->Make(u->op, u->dtype, srcs, u->attr);
    body.CarryOver(u, same);
    map[u] = f(cloned[n], same);
  }
  body.root = map.Get(body.root);
}

// The number of terms of a sum's load, if all of them are contiguous in memory; 0 otherwise.
int64_t TermsInRow(const ScheduleBuilder& t, const UOp* load) {
  const auto access =
      llvm::find_if(t.accesses(), [&](const Access& a) { return a.node == load && !a.is_store(); });
  if (access == t.accesses().end()) return 0;
  std::vector<std::pair<int64_t, int64_t>> strides;  // stride, trip count
  for (size_t n = 0; n < t.schedule().base.size(); ++n) {
    const BaseAxis& base = t.schedule().base[n];
    if (base.IsStored() || access->stride[n] == 0) continue;
    if (!access->stride[n]) return 0;
    strides.emplace_back(*access->stride[n], base.max_size);
  }
  llvm::sort(strides);
  int64_t terms = 1;
  for (const auto& [stride, steps] : strides) {
    if (stride != terms) return 0;
    terms *= steps;
  }
  return terms;
}

}  // namespace

StagedValues StageChosen(Kernel& kernel, const Body& clone, const ScheduleBuilder& t,
                         ShapeMap& shapes) {
  NodeMap<int64_t> staged;  // 1 + the number of contiguous terms
  const LoadedValues values(clone, shapes);
  for (const UOp* load : t.packed()) {
    staged[values.WithMostAxes(load, Op::kPermute)] = 1 + TermsInRow(t, load);
  }
  Builder b(*kernel.body.context);
  const auto stage = [&](const UOp* u) { return b.context().Make(Op::kStaged, u->dtype, {u}); };
  StagedValues out;
  RewriteAs(kernel.body, clone, [&](const UOp* cloned, const UOp* same) {
    if (llvm::is_contained(t.sums(), cloned)) {
      out.sums.push_back(stage(same));
      return out.sums.back();
    }
    const int64_t row = staged.Get(cloned) - 1;
    if (row < 0) return same;
    // The terms become one axis, a part of which is the side of a square.
    const Shape& shape = shapes.Of(cloned);
    Shape rows = shape;
    int64_t terms = 1;
    while (terms < row && !rows.empty() && !rows.back().is_symbolic()) {
      terms *= rows.back().value();
      rows.pop_back();
    }
    if (row == 0 || terms != row) return stage(same);
    rows.push_back(row);
    const bool as_it_is = llvm::equal(rows, shape);
    out.rows.push_back(stage(as_it_is ? same : b.Reshape(same, rows)));
    return as_it_is ? out.rows.back() : b.Reshape(out.rows.back(), shape);
  });
  return out;
}

void FillPackedSquares(const std::vector<const UOp*>& staged, Kernel& kernel, Schedule& schedule,
                       const Target& target) {
  int64_t lanes = 1;
  for (const ScheduledAxis& axis : schedule.axes) {
    if (axis.kind == AxisKind::kVector) lanes = axis.max_size;
  }
  for (const UOp* copy : staged) {
    const auto terms = [&](const ScheduledAxis& axis) {
      return schedule.base[axis.base].staged == copy && axis.max_size % lanes == 0;
    };
    const auto axis = llvm::find_if(schedule.axes, terms);
    if (axis == schedule.axes.end()) continue;
    Directive directive{"upcast", {{axis->name, 0}, {"", lanes}}};
    if (ApplyDirective(schedule, directive, target).ok())
      kernel.directives.push_back(std::move(directive));
  }
}

bool StageRows(Kernel& kernel, const Body& clone, const PackedRows& packed, ShapeMap& shapes) {
  const UOp* value = LoadedValues(clone, shapes).WithMostAxes(packed.load, Op::kReshape);
  Shape shape = shapes.Of(value);
  if (!IsStatic(shape)) return false;
  size_t dim = shape.size();
  int64_t stride = 1;
  do {
    if (dim == 0) return false;
    if (dim < shape.size()) stride *= shape[dim].value();
  } while (!shape[--dim].Is(packed.sums) || stride != packed.stride);
  const Shape whole = shape;
  shape[dim] = packed.sums / packed.lanes;
  shape.insert(shape.begin() + static_cast<ptrdiff_t>(dim) + 1, packed.lanes);
  // Moves the lanes last; `back` is the inverse.
  std::vector<int64_t> order(shape.size()), back(shape.size());
  std::iota(order.begin(), order.end(), 0);
  std::rotate(order.begin() + static_cast<ptrdiff_t>(dim) + 1,
              order.begin() + static_cast<ptrdiff_t>(dim) + 2, order.end());
  for (size_t i = 0; i < order.size(); ++i) {
    back[static_cast<size_t>(order[i])] = static_cast<int64_t>(i);
  }
  Builder b(*kernel.body.context);
  RewriteAs(kernel.body, clone, [&](const UOp* cloned, const UOp* same) {
    if (cloned != value) return same;
    const UOp* blocks = b.Permute(b.Reshape(same, shape), order);
    const UOp* staged = b.context().Make(Op::kStaged, blocks->dtype, {blocks});
    return b.Reshape(b.Permute(staged, back), whole);
  });
  return true;
}

bool ApplyFission(const std::vector<const UOp*>& sums, const std::string& axis, Kernel& kernel,
                  Schedule& schedule, const Target& target) {
  const auto in_step = [&](const UOp* sum) { return schedule.AxesOf(sum).empty(); };
  Directive directive{"fission", {{axis, 0}}};
  if (!llvm::all_of(sums, in_step) || !ApplyDirective(schedule, directive, target).ok())
    return false;
  kernel.directives.push_back(std::move(directive));
  return true;
}

}  // namespace tg
