// The part of IndexLowering that finds which elements a copy in local memory has.
#include <tuple>

#include "llvm/ADT/STLExtras.h"
#include "passes/analysis/indexing.h"
#include "passes/indices/index_lowering.h"
#include "passes/indices/predicates.h"

namespace tg::indices {
std::vector<IndexLowering::Inside> IndexLowering::CoordinatesIn(const UOp* special) const {
  std::vector<Inside> out;
  for (size_t i = 0; i < nest_.axes.size(); ++i) {
    const loop_nest::LoopAxis& axis = nest_.axes[i];
    if (!axis.HasItems()) continue;
    if (llvm::is_contained(PostOrder(where_.axis[i]), special)) out.push_back({i, where_.axis[i]});
  }
  // As the axes share the dimension (assign_loops.cc).
  llvm::stable_sort(out, [&](const Inside& a, const Inside& b) {
    return nest_.IsMatrixUnit(nest_.axes[a.axis].name) <
           nest_.IsMatrixUnit(nest_.axes[b.axis].name);
  });
  return out;
}

IndexLowering::PackedAt& IndexLowering::PlanLocalCopy(const Key& key, const loop_nest::Copy& copy) {
  const auto [it, fresh] = packed_.try_emplace(key.bits());
  PackedAt& plan = it->second;
  if (!fresh) return plan;
  const auto at = nest_.AxisNamed(copy.at);
  analysis::Position from = WithoutPadding(positions_[key.at], shapes_.Of(key.node));
  std::vector<const UOp*> leaves = from.index, order;
  if (from.valid) leaves.push_back(from.valid);
  NodeSet below;
  AppendPostOrder(UOpSpan(leaves.data(), leaves.size()), below, order);
  struct Coordinate {
    size_t axis;
    const UOp *filled, *read;
  };
  std::vector<Coordinate> all;
  // `seen`: like `changed`, but keeps the coordinates along which the value does not vary.
  NodeMap<const UOp*> changed, seen;
  NodeSet inner;  // coordinates in the loop that the copy has no elements along
  const auto add = [&](const Inside& inside) {
    const UOp* filled = b_.Range(b_.Index(nest_.axes[inside.axis].max_size));
    all.push_back({inside.axis, filled, inside.leaf});
    return filled;
  };
  for (const UOp* u : order) {
    if (llvm::is_contained(locals_, u)) {
      // A local id may also cover axes along which the value does not vary; for these any index
      // will do, so 0 is used.
      Shape shape;
      std::vector<const UOp*> index, parts;
      for (Inside inside : CoordinatesIn(u)) {
        for (size_t k = 0; k < nest_.axes.size(); ++k) {
          const bool owns =
              nest_.axes[k].owned && nest_.axes[k].shares == nest_.axes[inside.axis].name;
          if (owns && nest_.IsCopied(copy, k)) inside.axis = k;
        }
        shape.push_back(nest_.axes[inside.axis].max_size);
        const bool is_copied = nest_.IsCopied(copy, inside.axis);
        index.push_back(is_copied ? add(inside) : b_.Index(0));
        parts.push_back(is_copied ? index.back() : inside.leaf);
      }
      changed[u] = analysis::Flatten(b_, shape, index, simplify_);
      seen[u] = analysis::Flatten(b_, shape, parts, simplify_);
      continue;
    }
    if (u->op != Op::kRange && u->op != Op::kUnroll) continue;
    const std::optional<size_t> axis = AxisOfLeaf(u);
    if (axis == at) plan.step = u;
    if (axis && nest_.IsCopied(copy, *axis)) {
      changed[u] = seen[u] = add({*axis, u});
    } else if (axis && nest_.IsInside(*axis, at)) {
      inner.Insert(u);
    }
  }
  // Directives may have split an axis into loops, work-items and lanes. In the copy, the parts of
  // one axis are put together again, so that its elements are adjacent.
  llvm::sort(all, [&](const Coordinate& a, const Coordinate& b) {
    const auto place = [&](const Coordinate& c) {
      const size_t base = nest_.axes[c.axis].base;
      int64_t stride = 0;
      for (const loop_nest::Digit& d : nest_.maps[base].digits)
        stride = d.axis == c.axis ? d.stride : stride;
      return std::tuple(nest_.base[base].IsStored(), base, -stride);
    };
    return place(a) < place(b);
  });
  for (const Coordinate& c : all) {
    plan.axes.push_back({nest_.axes[c.axis].max_size, c.filled, c.read, nest_.axes[c.axis].base});
    plan.ranges.push_back(c.filled);
    plan.row += !nest_.base[nest_.axes[c.axis].base].IsStored();
  }
  // Drops predicates on single work-items, lanes and steps inside the loop: an element that one of
  // them does not need, because such a predicate is false for it, may be read by others from the
  // same copy.
  const UOp* const all_parts = from.valid;
  if (from.valid) {
    from.valid = Without(b_, from.valid, [&](const UOp* part) {
      return llvm::any_of(PostOrder(Replaced(part, seen)), [&](const UOp* u) {
        return llvm::is_contained(locals_, u) || inner.Contains(u);
      });
    });
  }
  plan.has_zeros = from.valid == all_parts;
  for (const UOp*& index : from.index) index = Replaced(index, changed);
  if (from.valid) from.valid = Replaced(from.valid, changed);
  // The dropped predicates may have kept indices in bounds.
  if (!plan.has_zeros) from.valid = InShape(from.index, shapes_.Of(key.node), from.valid);
  plan.source = Intern(std::move(from));
  return plan;
}

}  // namespace tg::indices
