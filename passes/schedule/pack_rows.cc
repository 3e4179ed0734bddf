// PackRows: copies of rows that sums read, in blocks with the sums innermost, as `staged` values.
#include <algorithm>
#include <numeric>
#include <utility>

#include "base/check.h"
#include "ir/builder.h"
#include "llvm/ADT/STLExtras.h"
#include "passes/schedule/packing.h"
#include "passes/schedule/rules.h"

namespace tg::schedule {
namespace {

// The reshapes that loads of a body go through.
class LoadedValues {
 public:
  LoadedValues(const Body& body, ShapeMap& shapes) : shapes_(shapes) {
    NodeSet used;
    for (const UOp* u : body.Order()) {
      for (const UOp* s : u->srcs()) only_user_[s] = used.Insert(s) ? u : nullptr;
    }
  }
  // The value with the most axes among the load and the values that reshapes make from it. In it
  // the sums have a separate axis, even if the argument has one long axis.
  const UOp* WithMostAxes(const UOp* load) const {
    const UOp* best = load;
    for (const UOp* u = load; u && (u == load || u->op == Op::kReshape);) {
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

// Rebuilds a body: each node is replaced by f(the same node in the clone, the node rebuilt over its
// new sources).
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

// Stages the load that `packed` describes. The copy consists of blocks; each has the terms of
// `packed.lanes` sums, with the sums innermost. `packed.load` is a node of `clone`, a clone of
// `kernel`'s body with the shapes `shapes`. Returns false, and leaves the body alone, if the load
// has no axis of sums.
bool StageRows(Kernel& kernel, const Body& clone, const PackedRows& packed, ShapeMap& shapes) {
  const UOp* value = LoadedValues(clone, shapes).WithMostAxes(packed.load);
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

}  // namespace

std::optional<BodySchedules> PackRows(const BodyRequest& request, Kernel& kernel) {
  if (request.plain.CombinesTuples()) return std::nullopt;
  const auto pack = [&](KernelFacts& facts) {
    const std::optional<PackedRows> packed = FindPackedRows(ScheduleBuilder(facts));
    return packed && StageRows(kernel, facts.kernel().body, *packed, facts.shapes());
  };
  if (!pack(request.plain)) return std::nullopt;
  while (true) {
    KernelFacts facts(request.module, request.calls, kernel, request.plain.target());
    if (!pack(facts)) break;
  }
  // Sums of lanes are predicted to be as fast as sums in lanes.
  return BodySchedules{.is_certain = true};
}

}  // namespace tg::schedule
