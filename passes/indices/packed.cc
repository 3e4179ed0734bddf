// The part of IndexLowering for cache blocking: copies of packed values, and reduces whose terms
// are divided into blocks by a loop around the results.

#include "base/arithmetic.h"
#include "ir/interpret/scalar.h"
#include "llvm/ADT/STLExtras.h"
#include "passes/analysis/indexing.h"
#include "passes/indices/index_lowering.h"
#include "passes/indices/make_stage.h"
#include "passes/indices/predicates.h"
#include "passes/simplify/affine_sums.h"

namespace tg::indices {

std::optional<size_t> IndexLowering::AxisOfLeaf(const UOp* leaf) const {
  if (leaf->op == Op::kUnroll) {
    const auto axis = static_cast<size_t>(leaf->word());
    return axis < nest_.axes.size() ? std::optional(axis) : std::nullopt;
  }
  const size_t known = axis_of_range_.Get(leaf);
  return known > 0 ? std::optional(known - 1) : std::nullopt;
}

// A window: an index of a packed value that is a sum of several coordinates, such as the position
// of a pixel and the offset in a convolution's window. Different coordinates may give the same
// index, and the copy has each index only once.
struct IndexLowering::Window {
  // The coordinates, as positions in the vector `inside`, with their coefficients. Sorted by
  // coefficient; the first is 1.
  llvm::SmallVector<std::pair<size_t, int64_t>, 4> of;
  int64_t size = 1;
};

std::vector<IndexLowering::Window> IndexLowering::FindWindows(const analysis::Position& at,
                                                              const std::vector<Inside>& inside) {
  std::vector<Window> out;
  const auto number = [&](const UOp* leaf) {
    return static_cast<size_t>(
        llvm::find_if(inside, [&](const Inside& i) { return i.leaf == leaf; }) - inside.begin());
  };
  std::vector<int> dims(inside.size(), 0);  // in how many indices each coordinate occurs
  for (const UOp* index : at.index) {
    for (const UOp* u : PostOrder(index)) {
      if (const size_t n = number(u); n < inside.size()) ++dims[n];
    }
  }
  for (const UOp* index : at.index) {
    const std::optional<analysis::AffineExpr> sum = analysis::ParseAffine(index);
    if (!sum) continue;
    Window window;
    bool fits = true;
    for (const analysis::AffineExpr::Term& term : sum->terms) {
      const size_t n = number(term.node);
      if (n < inside.size()) {
        window.of.emplace_back(n, term.coef);
        window.size += term.coef * (nest_.axes[inside[n].axis].max_size - 1);
        fits &= term.coef > 0 && dims[n] == 1;
        // The lanes of a vector must be adjacent in the copy.
        fits &= term.coef == 1 || nest_.axes[inside[n].axis].kind != AxisKind::kVector;
        continue;
      }
      fits &= llvm::none_of(PostOrder(term.node),
                            [&](const UOp* u) { return number(u) < inside.size(); });
    }
    llvm::stable_sort(window.of, llvm::less_second());
    bool overlaps = false;
    int64_t next = 1;
    for (const auto& [n, coef] : window.of) {
      overlaps |= coef < next;
      next = coef * nest_.axes[inside[n].axis].max_size;
    }
    if (!fits || !overlaps || window.of[0].second != 1) continue;
    if (IsSumOf(at.valid, window, inside)) out.push_back(std::move(window));
  }
  return out;
}

bool IndexLowering::IsSumOf(const UOp* valid, const Window& window,
                            const std::vector<Inside>& inside) {
  if (!valid) return true;
  const UOp* unit = inside[window.of[0].first].leaf;
  for (const auto& [n, coef] : window.of) {
    if (inside[n].leaf == unit) continue;
    NodeMap<const UOp*> moved;
    moved[inside[n].leaf] = b_.Add(inside[n].leaf, b_.Index(1));
    moved[unit] = b_.Sub(unit, b_.Index(coef));
    if (Replaced(valid, moved) != valid) return false;
  }
  return true;
}

analysis::Position IndexLowering::Unclamped(analysis::Position at, const Shape& shape) {
  NodeMap<const UOp*> changed = unclamped_;
  const std::vector<const UOp*> before = at.index;
  for (const UOp*& index : at.index) index = Replaced(index, changed);
  if (at.index != before) {
    if (at.valid) at.valid = Replaced(at.valid, changed);
    at.valid = InShape(at.index, shape, at.valid);
  }
  return at;
}

analysis::Position IndexLowering::WithoutPadding(analysis::Position at, const Shape& shape) {
  // Neighbouring results read neighbouring elements, in the padding too, so that a copy has each
  // element of their windows once.
  if (clamped_) at = Unclamped(std::move(at), shape);
  if (!at.valid) return at;
  NodeSet guards;
  const UOp* inside = nullptr;
  for (const size_t i : nest_.PaddedResults()) {
    const UOp* guard = CountedAlong(i).guard;
    if (!llvm::is_contained(PartsOf(at.valid), guard)) continue;
    guards.Insert(guard);
    inside = analysis::Both(b_, inside, guard);
  }
  if (!inside) return at;
  const auto under = [&](const UOp* value, const UOp* otherwise) {
    const UOp* choice = simplify_(b_.Where(inside, value, otherwise));
    return choice->op == Op::kWhere && choice->src(0) == inside ? choice->src(1) : value;
  };
  for (const UOp*& index : at.index) index = under(index, b_.Index(0));
  at.valid = Without(b_, at.valid, [&](const UOp* part) { return guards.Contains(part); });
  at.valid = InShape(at.index, shape, at.valid);
  return at;
}

const UOp* IndexLowering::FreshUnroll(int64_t size) {
  return b_.Unroll(static_cast<int64_t>(nest_.axes.size()) + num_fresh_unrolls_++, size);
}

IndexLowering::PackedAt& IndexLowering::PlanPacked(const Key& key, size_t at) {
  const auto [it, fresh] = packed_.try_emplace(key.bits());
  PackedAt& plan = it->second;
  if (!fresh) return plan;
  analysis::Position from = WithoutPadding(positions_[key.at], shapes_.Of(key.node));
  std::vector<const UOp*> leaves = from.index, order;
  if (from.valid) leaves.push_back(from.valid);
  NodeSet below;
  AppendPostOrder(UOpSpan(leaves.data(), leaves.size()), below, order);
  std::vector<Inside> inside;  // the coordinates inside, in the order of the axes
  for (const UOp* u : order) {
    if (u->op != Op::kRange && u->op != Op::kUnroll) continue;
    const std::optional<size_t> axis = AxisOfLeaf(u);
    if (axis && nest_.IsInside(*axis, at)) inside.push_back({*axis, u});
  }
  llvm::sort(inside, [](const Inside& a, const Inside& b) { return a.axis < b.axis; });
  const std::vector<Window> windows = FindWindows(from, inside);
  NodeMap<const UOp*> changed;
  bool vector_in_window = false;
  const auto in_window = [&](size_t n) {
    return llvm::any_of(windows, [&](const Window& w) {
      return llvm::any_of(w.of, [&](const auto& part) { return part.first == n; });
    });
  };
  for (size_t n = 0; n < inside.size(); ++n) {
    const bool is_vector = nest_.axes[inside[n].axis].kind == AxisKind::kVector;
    vector_in_window |= is_vector && in_window(n);
  }
  int64_t lanes = 1;
  for (const loop_nest::LoopAxis& axis : nest_.axes) {
    if (axis.kind == AxisKind::kVector) lanes = axis.max_size;
  }
  const auto add_coordinates = [&](Op kind) {
    for (size_t n = 0; n < inside.size(); ++n) {
      const UOp* leaf = inside[n].leaf;
      if (leaf->op != kind || in_window(n)) continue;
      const UOp* filled = kind == Op::kUnroll ? leaf : b_.Range(leaf->src(0));
      plan.axes.push_back({nest_.axes[inside[n].axis].max_size, filled, leaf});
      (kind == Op::kUnroll ? plan.unrolls : plan.ranges).push_back(filled);
      if (kind == Op::kRange) changed[leaf] = filled;
    }
  };
  add_coordinates(Op::kRange);
  const bool ends_in_window =
      vector_in_window || llvm::none_of(inside, [&](const Inside& i) {
        return i.leaf->op == Op::kUnroll && !in_window(static_cast<size_t>(&i - inside.data()));
      });
  if (vector_in_window) add_coordinates(Op::kUnroll);
  const UOp* in_windows = nullptr;
  for (const Window& window : windows) {
    // The last window is copied in vectors if its elements are adjacent in the copy.
    const bool in_vectors = lanes > 1 && ends_in_window && &window == &windows.back();
    const int64_t size = in_vectors ? RoundUp(window.size, lanes) : window.size;
    const UOp* filled = nullptr;
    if (in_vectors) {
      // A few vectors are unrolled, so that their predicates are constants.
      constexpr int64_t kMostVectors = 8;
      const UOp* vector = size / lanes <= kMostVectors ? FreshUnroll(size / lanes)
                                                       : b_.Range(b_.Index(size / lanes));
      const UOp* lane = FreshUnroll(lanes);
      (vector->op == Op::kUnroll ? plan.unrolls : plan.ranges).push_back(vector);
      plan.unrolls.push_back(lane);
      filled = b_.Add(b_.Mul(vector, b_.Index(lanes)), lane);
      if (size > window.size) {
        in_windows = analysis::Both(b_, in_windows, b_.Lt(filled, b_.Index(window.size)));
      }
    } else {
      filled = b_.Range(b_.Index(size));
      plan.ranges.push_back(filled);
    }
    const UOp* read = nullptr;
    for (const auto& [n, coef] : window.of) {
      const UOp* term = coef == 1 ? inside[n].leaf : b_.Mul(inside[n].leaf, b_.Index(coef));
      read = read ? b_.Add(read, term) : term;
      changed[inside[n].leaf] = b_.Index(0);
    }
    changed[inside[window.of[0].first].leaf] = filled;
    plan.axes.push_back({size, filled, read});
  }
  if (!vector_in_window) add_coordinates(Op::kUnroll);
  for (const UOp*& index : from.index) index = Replaced(index, changed);
  if (from.valid) from.valid = Replaced(from.valid, changed);
  if (in_windows) from.valid = simplify_(analysis::Both(b_, from.valid, in_windows));
  plan.source = Intern(std::move(from));
  return plan;
}

const UOp* IndexLowering::StepPacked(const Key& key, std::vector<Key>& missing) {
  const UOp* source = key.node->src(0);
  const auto copy =
      llvm::find_if(nest_.copies, [&](const loop_nest::Copy& c) { return c.node == key.node; });
  if (copy == nest_.copies.end()) return Find(source, key.at, missing);
  const analysis::Position& at = positions_[key.at];
  if (const UOp* valid = ValidToRead(at); valid != at.valid) {
    return Find(key.node, Intern({at.index, valid}), missing);
  }
  PackedAt& plan =
      copy->is_local ? PlanLocalCopy(key, *copy) : PlanPacked(key, nest_.AxisNamed(copy->at));
  const UOp* x = Find(source, plan.source, missing);
  if (!x || plan.axes.empty()) return x;
  if (!plan.memory) {
    if (const UOp* valid = positions_[plan.source].valid; valid && !ZeroOutside(x, valid, 4)) {
      x = b_.Where(valid, x, b_.ConstInt(x->dtype, 0));
    }
    std::vector<const UOp*> lanes = free_.UnrollsOf(x);
    std::erase_if(lanes, [&](const UOp* lane) { return llvm::is_contained(plan.unrolls, lane); });
    if (copy->is_local && !nest_.matrices.empty()) OrderByAddress(plan, x, *copy);
    StageOptions options = {.is_local = copy->is_local};
    if (copy->is_local) {
      options.row = plan.row > 0 ? plan.SizeFrom(plan.row) : 0;
      options.step = copy->ahead || copy->buffers > 1 ? plan.step : nullptr;
      options.buffers = std::max<int64_t>(2, copy->buffers);
      options.ahead = copy->ahead;
    } else {
      options.interleaved = IsInterleaved(key.node, lanes);
    }
    const UOp* element = ElementOf(plan, &PackedAt::Axis::filled);
    plan.memory = MakeStage(b_, x, plan.SizeFrom(0), element, nullptr,
                            {plan.ranges, plan.unrolls, {}}, options);
  }
  const UOp* load = b_.Load(b_.IndexPtr(plan.memory, ElementOf(plan, &PackedAt::Axis::read)));
  if (plan.has_zeros && positions_[key.at].valid) packed_valid_[load] = positions_[key.at].valid;
  return load;
}

const UOp* IndexLowering::ElementOf(const PackedAt& plan, const UOp* PackedAt::Axis::*index) {
  Shape shape;
  std::vector<const UOp*> at;
  for (const PackedAt::Axis& axis : plan.axes) {
    shape.push_back(axis.size);
    at.push_back(axis.*index);
  }
  return analysis::Flatten(b_, shape, at, simplify_);
}

const UOp* IndexLowering::InFirstBlock() {
  const UOp* first = nullptr;
  for (const UOp* range : block_ranges_)
    first = analysis::Both(b_, first, b_.Lt(range, b_.Index(1)));
  return first;
}

const UOp* IndexLowering::InLastBlock() {
  const UOp* last = nullptr;
  for (const UOp* range : block_ranges_) {
    last = analysis::Both(b_, last, b_.Lt(b_.Sub(range->src(0), b_.Index(2)), range));
  }
  return simplify_(last);
}

const UOp* IndexLowering::InEachBlock(const UOp* address) {
  const UOp* memory = b_.After(address->src(0), block_ranges_);
  return b_.IndexPtr(memory, address->src(1), address->num_srcs > 2 ? address->src(2) : nullptr);
}

const UOp* IndexLowering::WithEarlierBlocks(Op op, const UOp* x) {
  const UOp* earlier = b_.Load(InEachBlock(partial_));
  const int64_t identity = interpret::ReduceIdentity(op, x->dtype.scalar());
  if (identity != 0) {
    earlier = b_.Where(InFirstBlock(), b_.ConstBits(x->dtype, identity), earlier);
  }
  return b_.Alu(op, {earlier, x});
}

}  // namespace tg::indices
