// The part of BodyLowering that concerns staged values.
#include "ir/arithmetic.h"
#include "passes/analysis/indexing.h"
#include "passes/lower/body_lowering.h"

namespace tg {

const UOp* BodyLowering::InStored(LoopSet axes) {
  const UOp* valid = where_.valid;
  for (size_t i = 0; i < schedule_.base.size(); ++i) {
    const BaseAxis& base = schedule_.base[i];
    if (!base.IsStored() || !NeedsGuard(i) || (axes & LoopBit(i)) == 0) continue;
    const UOp* value = BaseAxisValue(b_, schedule_, i, where_.axis, simplify_);
    valid = simplify_(Both(b_, valid, Guard(base, value)));
  }
  return valid;
}

const UOp* BodyLowering::InShape(const std::vector<const UOp*>& index, const Shape& shape,
                                 const UOp* valid) {
  for (size_t k = 0; k < shape.size(); ++k) {
    for (const UOp* part : {b_.Lt(b_.Index(-1), index[k]), b_.Lt(index[k], b_.Index(shape[k]))}) {
      part = simplify_(part);
      if (!IsConst(part) || part->word() == 0) valid = Both(b_, valid, part);
    }
  }
  return valid ? simplify_(valid) : nullptr;
}

BodyLowering::StagedAt& BodyLowering::PlanStaged(const Key& key, const std::vector<size_t>& own) {
  // What is read at positions that differ along its own axes alone is kept in one place.
  // It is made for indices that it has, though who reads it may stand beside it, under a gate.
  Position kept = {positions_[key.at].index, nullptr};
  const Shape& shape = shapes_.Of(key.node);
  for (size_t k = 0; k < shape.size(); ++k) {
    if (shape[k].Is(1)) kept.index[k] = b_.Index(0);
  }
  for (size_t i : own) kept.index[schedule_.base[i].dim] = b_.Index(0);
  const auto [it, fresh] = staged_.try_emplace({key.node, Intern(kept)});
  StagedAt& plan = it->second;
  if (!fresh) return plan;
  const std::vector<const UOp*> axis = OwnAxes(key.node, plan.unrolls, plan.ranges, plan.specials);
  // Padding of other stored axes may borrow from an index that does not vary along them.
  plan.valid = InShape(kept.index, shape, InStored(schedule_.varies[own[0]]));
  Position from = {kept.index, plan.valid};
  for (size_t i : own) {
    const BaseAxis& base = schedule_.base[i];
    const UOp* value = BaseAxisValue(b_, schedule_, i, axis, simplify_);
    from.index[base.dim] = value;
    if (NeedsGuard(i)) plan.room = simplify_(Both(b_, plan.room, Guard(base, value)));
  }
  if (plan.room) from.valid = simplify_(Both(b_, from.valid, plan.room));
  plan.source = Intern(std::move(from));
  return plan;
}

const UOp* BodyLowering::StepStaged(const Key& key, std::vector<Key>& missing) {
  std::vector<size_t> own;  // its axes, as positions in the schedule's base
  for (size_t i = 0; i < schedule_.base.size(); ++i) {
    if (schedule_.base[i].staged == key.node) own.push_back(i);
  }
  const UOp* source = key.node->src(0);
  if (own.empty()) return Find(source, key.at, missing);
  StagedAt& plan = PlanStaged(key, own);
  const UOp* x = Find(source, plan.source, missing);
  if (!x) return nullptr;
  // Its number among the elements that are kept.
  int64_t size = 1;
  Shape room;
  for (size_t i : own) {
    room.push_back(schedule_.base[i].max_size);
    size = SaturatingMul(size, schedule_.base[i].max_size);
  }
  const auto element = [&](PositionId at) {
    std::vector<const UOp*> index;
    for (size_t i : own) index.push_back(positions_[at].index[schedule_.base[i].dim]);
    return Flatten(b_, room, index, simplify_);
  };
  if (!plan.memory.filled) {
    plan.memory = staging_.Fill(key.node, x, size, element(plan.source), plan.room,
                                {plan.unrolls, plan.ranges, plan.specials}, locals_);
  }
  const UOp* valid = positions_[key.at].valid;
  const UOp* number = element(key.at);
  // Where it is made it is read without a gate, if there is something to read everywhere: room in
  // which it was made.
  if (valid && valid == plan.valid && !plan.room) {
    const UOp* inside =
        simplify_(Both(b_, b_.Lt(b_.Index(-1), number), b_.Lt(number, b_.Index(size))));
    if (IsConst(inside) && inside->word() != 0) valid = nullptr;
  }
  return staging_.Read(plan.memory, number, valid);
}

}  // namespace tg
