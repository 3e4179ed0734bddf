// The part of IndexLowering that computes staged values and reads them.
#include "base/arithmetic.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "passes/analysis/indexing.h"
#include "passes/indices/index_lowering.h"
#include "passes/indices/make_stage.h"
#include "passes/indices/rebuild.h"

namespace tg::indices {

const UOp* IndexLowering::Replaced(const UOp* u, NodeMap<const UOp*>& changed) {
  const UOp* to = Rebuilt(body_, u, changed);
  return to == u ? u : simplify_(to);
}

IndexLowering::StagedAt& IndexLowering::PlanStaged(const Key& key, const std::vector<size_t>& own) {
  // Reads at positions that differ only along staged axes share one buffer. The value is computed
  // for indices in bounds only, although a reader may be out of bounds, under a gate.
  analysis::Position staged = {positions_[key.at].index, nullptr};
  const Shape& shape = shapes_.Of(key.node);
  for (size_t k = 0; k < shape.size(); ++k) {
    if (shape[k].Is(1)) staged.index[k] = b_.Index(0);
  }
  for (size_t i : own) staged.index[nest_.base[i].dim] = b_.Index(0);
  const auto [it, fresh] = staged_.try_emplace(Key{key.node, Intern(staged)}.bits());
  StagedAt& plan = it->second;
  if (!fresh) return plan;
  const std::vector<const UOp*> axis = OwnAxes(key.node, plan.unrolls, plan.ranges, plan.specials);
  for (const UOp* item : OwnersOf(key.node)) llvm::erase_value(plan.specials, item);
  // The indices are checked against the shape, since they may be out of bounds in the padding of
  // stored axes along which the value does not vary.
  plan.valid = InShape(staged.index, shape, InStored(nest_.VariesOf(key.node)));
  analysis::Position from = {staged.index, plan.valid};
  for (size_t i : own) {
    const analysis::BaseAxis& base = nest_.base[i];
    const UOp* value = BaseAxisValue(b_, nest_, i, axis, simplify_);
    from.index[base.dim] = value;
    from.valid = InLoopsOver(i, PartsOfAxis(i, axis), from.valid);
    if (NeedsGuard(i)) plan.guard = simplify_(analysis::Both(b_, plan.guard, Guard(base, value)));
  }
  if (plan.guard) from.valid = simplify_(analysis::Both(b_, from.valid, plan.guard));
  plan.source = Intern(std::move(from));
  return plan;
}

bool IndexLowering::IsInOutput(const UOp* staged, const std::vector<size_t>& own,
                               PositionId source) const {
  const analysis::Position& at = positions_[source];
  if (!nest_.in_output || nest_.base[*nest_.in_output].staged != staged || at.valid ||
      at.index.size() != results_.index.size()) {
    return false;
  }
  for (size_t k = 0; k < at.index.size(); ++k) {
    const bool is_own = llvm::any_of(own, [&](size_t i) { return nest_.base[i].dim == k; });
    if (!is_own && at.index[k] != results_.index[k]) return false;
  }
  return true;
}

bool IndexLowering::IsInterleaved(const UOp* staged, const std::vector<const UOp*>& lanes) const {
  NodeSet inside;  // reduces that the staged value depends on
  for (const UOp* u : PostOrder(staged)) {
    if (u->op == Op::kReduceAxis) inside.Insert(u);
  }
  bool alone = true;
  for (size_t i = 0; i < nest_.axes.size(); ++i) {
    const loop_nest::LoopAxis& axis = nest_.axes[i];
    const bool unrolled = axis.kind == AxisKind::kUnroll || axis.kind == AxisKind::kUpcast ||
                          axis.kind == AxisKind::kVector;
    const bool is_lane = llvm::any_of(
        lanes, [&](const UOp* lane) { return lane->word() == static_cast<int64_t>(i); });
    if (is_lane && axis.kind == AxisKind::kVector) return true;
    const UOp* reduce = nest_.base[axis.base].reduce;
    if (unrolled && !is_lane && !(reduce && inside.Contains(reduce))) alone = false;
  }
  return alone;
}

const UOp* IndexLowering::StepStaged(const Key& key, std::vector<Key>& missing) {
  std::vector<size_t> own;  // its axes, as positions in LoopNest::base
  for (size_t i = 0; i < nest_.base.size(); ++i) {
    if (nest_.base[i].staged == key.node) own.push_back(i);
  }
  const UOp* source = key.node->src(0);
  // A value without staged axes is read in the iteration that computes it, so it needs no memory.
  if (own.empty()) return Find(source, key.at, missing);
  StagedAt& plan = PlanStaged(key, own);
  const UOp* x = Find(source, plan.source, missing);
  if (!x) return nullptr;
  if (IsInOutput(key.node, own, plan.source)) {
    const auto address = [&](PositionId at) { return Address(output_, positions_[at]); };
    if (!plan.memory) {
      const UOp* to = address(plan.source);
      const UOp* done = b_.Store(to, x);
      if (!plan.ranges.empty()) done = b_.End(done, plan.ranges);
      plan.memory = b_.After(to->src(0), UOpSpan(&done, 1));
    }
    const UOp* from = address(key.at);
    return b_.Load(
        b_.IndexPtr(plan.memory, from->src(1), from->num_srcs > 2 ? from->src(2) : nullptr));
  }
  // The element's number in the buffer.
  int64_t size = 1;
  Shape extents;
  for (size_t i : own) extents.push_back(nest_.base[i].max_size);
  for (const Dim& d : extents) size = SaturatingMul(size, d.value());
  const auto element = [&](PositionId at) {
    std::vector<const UOp*> index;
    for (size_t i : own) index.push_back(positions_[at].index[nest_.base[i].dim]);
    return analysis::Flatten(b_, extents, index, simplify_);
  };
  if (!plan.memory) {
    std::vector<const UOp*> lanes = free_.UnrollsOf(x);
    std::erase_if(lanes, [&](const UOp* lane) { return llvm::is_contained(plan.unrolls, lane); });
    const bool is_local = !plan.specials.empty();
    const auto is_vector = [&](const UOp* lane) {
      return nest_.axes[static_cast<size_t>(lane->word())].kind == AxisKind::kVector;
    };
    // Elements that are stored together are next to each other.
    const bool interleaved = plan.unrolls.empty() ? IsInterleaved(key.node, lanes)
                                                  : llvm::any_of(lanes, is_vector) &&
                                                        llvm::none_of(plan.unrolls, is_vector);
    plan.memory = MakeStage(b_, x, size, element(plan.source), plan.guard,
                            {plan.ranges, plan.unrolls, plan.specials},
                            {.is_local = is_local, .interleaved = !is_local && interleaved});
    if (auto parts = OwnedParts(own); !parts.empty())
      owned_[plan.memory->word()] = std::move(parts);
  }
  const UOp* valid = ValidToRead(positions_[key.at], &shapes_.Of(key.node));
  const UOp* number = element(key.at);
  FirstRowInPadding(number, valid);
  // A load needs no gate if its predicate is the one under which the value was computed, unless the
  // buffer has padding, which is never written.
  if (valid && valid == plan.valid && !plan.guard) {
    const UOp* inside =
        simplify_(analysis::Both(b_, b_.Lt(b_.Index(-1), number), b_.Lt(number, b_.Index(size))));
    if (IsConst(inside) && inside->word() != 0) valid = nullptr;
  }
  return b_.Load(b_.IndexPtr(plan.memory, number, valid));
}

}  // namespace tg::indices
