// The part of BodyLowering that concerns reduces.
#include <algorithm>
#include <utility>

#include "ir/check.h"
#include "ir/interpret/scalar.h"
#include "llvm/ADT/STLExtras.h"
#include "passes/analysis/indexing.h"
#include "passes/lower/body_lowering.h"
#include "passes/simplify/closed_reduce.h"

namespace tg {
namespace {

const UOp* MakeReduce(Context& ctx, Op op, const UOp* x, const std::vector<const UOp*>& ranges) {
  std::vector<const UOp*> srcs = {x};
  srcs.insert(srcs.end(), ranges.begin(), ranges.end());
  return ctx.Make(Op::kReduce, x->dtype, srcs,
                  ctx.MakeAttr(Op::kReduce, {static_cast<int64_t>(op)}));
}

// Whether a reduce below `u` still needs a loop. (A reduce without ranges only combines lanes.)
bool HasLoop(const UOp* u) {
  return llvm::any_of(PostOrder(u),
                      [](const UOp* v) { return v->op == Op::kReduce && v->num_srcs > 1; });
}

}  // namespace

std::vector<const UOp*> BodyLowering::OwnAxes(const UOp* u, std::vector<const UOp*>& unrolls,
                                              std::vector<const UOp*>& ranges,
                                              std::vector<const UOp*>& specials) {
  std::vector<const UOp*> axis = where_.axis;
  for (size_t i : nest_.AxesOf(u)) {
    switch (nest_.axes[i].kind) {
      case AxisKind::kReduce:
      case AxisKind::kStage:
        axis[i] = b_.Range(simplify_(b_.Index(nest_.axes[i].size)));
        axis_of_range_[axis[i]] = 1 + i;
        ranges.push_back(axis[i]);
        break;
      case AxisKind::kUnroll:
      case AxisKind::kUpcast:
      case AxisKind::kVector:
        unrolls.push_back(axis[i]);
        break;
      case AxisKind::kGroup:
        specials.push_back(axis[i]);
        break;
      case AxisKind::kLoop:  // over blocks of terms
        break;
      default:
        TG_UNREACHABLE();
    }
  }
  return axis;
}

const BodyLowering::ReduceAt& BodyLowering::PlanReduce(const Key& key) {
  const auto [it, fresh] = plans_.try_emplace(key.bits());
  ReduceAt& plan = it->second;
  if (!fresh) return plan;
  const UOp* u = key.node;
  const std::vector<const UOp*> axis = OwnAxes(u, plan.unrolls, plan.ranges, plan.specials);
  Position from = positions_[key.at];
  for (int64_t k : u->list(1)) from.index[static_cast<size_t>(k)] = b_.Index(0);
  from.valid = ForWholeGroup(u, from);
  size_t num_whole = 0, num_axes = 0;
  for (size_t i = 0; i < nest_.base.size(); ++i) {
    const BaseAxis& base = nest_.base[i];
    if (base.reduce != u) continue;
    const UOp* value = BaseAxisValue(b_, nest_, i, axis, simplify_);
    from.index[base.dim] = value;
    if (NeedsGuard(i)) {
      const UOp* guard = simplify_(Guard(base, value));
      if (nest_.padded[i]) padded_terms_.emplace_back(guard, value);
      plan.valid = simplify_(Both(b_, plan.valid, guard));
    }
    const auto& parts = plan.parts.emplace_back(i, PartsOfAxis(i, axis)).second;
    from.valid = InLoopsOver(i, parts, from.valid);
    ++num_axes;
    num_whole += std::count(plan.ranges.begin(), plan.ranges.end(), value) > 0;
  }
  plan.is_whole = !plan.valid && num_whole == num_axes && num_axes == nest_.AxesOf(u).size();
  if (plan.valid) from.valid = simplify_(Both(b_, from.valid, plan.valid));
  plan.source = Intern(std::move(from));
  return plan;
}

const BodyLowering::ReduceAt& BodyLowering::PlanWhole(const Key& key) {
  const auto [it, fresh] = whole_plans_.try_emplace(key.bits());
  ReduceAt& plan = it->second;
  if (!fresh) return plan;
  Position from = positions_[key.at];
  for (int64_t k : key.node->list(1)) from.index[static_cast<size_t>(k)] = b_.Index(0);
  for (size_t i = 0; i < nest_.base.size(); ++i) {
    const BaseAxis& base = nest_.base[i];
    if (base.reduce != key.node) continue;
    const UOp* range = b_.Range(simplify_(b_.Index(base.size)));
    plan.ranges.push_back(range);
    from.index[base.dim] = range;
    from.valid = InLoopsOver(i, {range}, from.valid);
  }
  plan.is_whole = true;
  plan.source = Intern(std::move(from));
  return plan;
}

const BodyLowering::StagedAt* BodyLowering::FilledAlong(const Key& key, const ReduceAt& plan) {
  const UOp* staged = key.node->src(0);
  if (staged->op != Op::kStaged || plan.valid || positions_[plan.source].valid) return nullptr;
  std::vector<size_t> own, dims, terms;
  for (size_t i = 0; i < nest_.base.size(); ++i) {
    const BaseAxis& base = nest_.base[i];
    if (base.reduce == key.node) terms.push_back(base.dim);
    if (base.staged != staged) continue;
    own.push_back(i);
    dims.push_back(base.dim);
  }
  if (own.empty() || dims != terms) return nullptr;
  const StagedAt& fill = PlanStaged({staged, plan.source}, own);
  return IsInOutput(staged, own, fill.source) ? &fill : nullptr;
}

const UOp* BodyLowering::StepReduce(const Key& key, std::vector<Key>& missing) {
  const Position& at = positions_[key.at];
  if (const UOp* valid = ValidToRead(at); valid != at.valid) {
    return Find(key.node, Intern({at.index, valid}), missing);
  }
  const ReduceAt& plan = PlanReduce(key);
  if (const StagedAt* fill = FilledAlong(key, plan)) {
    const UOp* x = Find(key.node->src(0)->src(0), fill->source, missing);
    if (!x) return nullptr;
    ++looped_[key.node];
    return reduces_.Reduce(static_cast<Op>(key.node->word()), x, fill->unrolls, fill->ranges);
  }
  const UOp* x = Find(key.node->src(0), plan.source, missing);
  if (!x) return nullptr;
  const Op op = static_cast<Op>(key.node->word());
  const bool only_loops = plan.unrolls.empty() && plan.specials.empty() && !plan.valid;
  const UOp* folded = only_loops ? FoldLoop(op, x, plan) : nullptr;
  // A reduce that algebra folds needs none of its directives. But if directives split its axis, the
  // parts may hide that it folds, so it is tried again with whole axes.
  const bool in_blocks =
      llvm::any_of(nest_.AxesOf(key.node), [&](size_t i) { return nest_.IsReduceLoop(i); });
  if (folded && in_blocks) return blocks_ = WithEarlierBlocks(op, folded);
  if (!folded && !plan.is_whole && !in_blocks && MayFoldReduce(op, x)) {
    const ReduceAt& whole = PlanWhole(key);
    const UOp* y = Find(key.node->src(0), whole.source, missing);
    if (!y) return nullptr;
    folded = FoldLoop(op, y, whole);
  }
  if (folded) {
    ++folded_[key.node];
    return folded;
  }
  ++looped_[key.node];
  if (plan.valid) {
    const UOp* identity = b_.ConstBits(x->dtype, ReduceIdentity(op, x->dtype.scalar()));
    const bool zero = IsConst(identity) && identity->word() == 0;
    if (!zero || !ZeroOutside(x, plan.valid, 4)) x = b_.Where(plan.valid, x, identity);
  }
  ReduceAt rest = plan;
  std::vector<const UOp*> idle;
  if (!in_blocks) idle = HoistInvariantAxes(op, x, rest);
  if (CombinesFirst(x, rest)) x = reduces_.Reduce(op, x, std::exchange(rest.unrolls, {}), {});
  x = reduces_.Reduce(op, x, rest.unrolls, rest.ranges);
  if (!rest.specials.empty()) x = reduces_.GroupReduce(op, x, rest.specials, locals_);
  for (const UOp* range : idle) x = simplify_(MakeReduce(b_.context(), op, x, {range}));
  if (in_blocks) x = blocks_ = WithEarlierBlocks(op, x);
  return x;
}

bool BodyLowering::CombinesFirst(const UOp* x, const ReduceAt& plan) {
  if (plan.unrolls.empty() || plan.ranges.empty()) return false;
  FreeLeaves& free = reduces_.free_leaves();
  const bool lanes_stay = llvm::any_of(free.UnrollsOf(x), [&](const UOp* u) {
    return !llvm::is_contained(plan.unrolls, u) &&
           nest_.axes[static_cast<size_t>(u->word())].kind == AxisKind::kVector;
  });
  return lanes_stay && llvm::any_of(PostOrder(x), [&](const UOp* u) {
           return u->op == Op::kEnd && llvm::any_of(free.RangesOf(u), [&](const UOp* range) {
                    return llvm::is_contained(plan.ranges, range);
                  });
         });
}

std::vector<const UOp*> BodyLowering::HoistInvariantAxes(Op op, const UOp* x, ReduceAt& plan) {
  NodeSet below;
  std::vector<const UOp*> order, out;
  AppendPostOrder(UOpSpan(&x, 1), below, order);
  for (const auto& [base, parts] : plan.parts) {
    const bool varies = std::any_of(parts.begin(), parts.end(),
                                    [&](const UOp* part) { return below.Contains(part); });
    if (varies || NeedsGuard(base) || nest_.base[base].max_size <= 1) continue;
    const UOp* range = b_.Range(simplify_(b_.Index(nest_.base[base].size)));
    if (HasLoop(simplify_(MakeReduce(b_.context(), op, x, {range})))) continue;
    for (auto* list : {&plan.ranges, &plan.unrolls, &plan.specials}) {
      std::erase_if(*list, [&parts = parts](const UOp* u) {
        return std::find(parts.begin(), parts.end(), u) != parts.end();
      });
    }
    out.push_back(range);
  }
  return out;
}

std::vector<const UOp*> BodyLowering::FoldedReduces() const {
  std::vector<const UOp*> out;
  for (const BaseAxis& b : nest_.base) {
    const bool folds = b.reduce && folded_.Get(b.reduce) > 0 && looped_.Get(b.reduce) == 0;
    if (folds && (out.empty() || out.back() != b.reduce)) out.push_back(b.reduce);
  }
  return out;
}

const UOp* BodyLowering::FoldLoop(Op op, const UOp* x, const ReduceAt& plan) {
  if (plan.ranges.empty()) return nullptr;
  const UOp* folded = simplify_(MakeReduce(b_.context(), op, x, plan.ranges));
  return HasLoop(folded) ? nullptr : folded;
}

}  // namespace tg
