// The part of IndexLowering that concerns reduces.
#include <algorithm>
#include <utility>

#include "base/check.h"
#include "ir/interpret/scalar.h"
#include "llvm/ADT/STLExtras.h"
#include "passes/analysis/indexing.h"
#include "passes/indices/combine_items.h"
#include "passes/indices/index_lowering.h"
#include "passes/indices/rebuild.h"
#include "passes/indices/reduce_terms.h"
#include "passes/simplify/closed_reduce.h"

namespace tg::indices {
namespace {

// Whether a term may be combined twice.
bool IsIdempotent(Op op) {
  return op == Op::kMax || op == Op::kMin || op == Op::kAnd || op == Op::kOr;
}

// Whether the node is lowered to a loop. (A reduce without ranges only combines lanes.)
bool IsLoop(const UOp* u) {
  return u->op == Op::kEnd || (u->op == Op::kReduce && u->num_srcs > 1) || u->op == Op::kStage;
}

const UOp* GroupReduce(Builder& b, Op op, const UOp* x, const std::vector<const UOp*>& specials) {
  std::vector<const UOp*> srcs = {x};
  srcs.insert(srcs.end(), specials.begin(), specials.end());
  Context& ctx = b.context();
  return ctx.Make(Op::kGroupReduce, x->dtype, srcs,
                  ctx.MakeAttr(Op::kGroupReduce, {static_cast<int64_t>(op), ctx.NextId()}));
}

}  // namespace

std::vector<const UOp*> IndexLowering::OwnAxes(const UOp* u, std::vector<const UOp*>& unrolls,
                                               std::vector<const UOp*>& ranges,
                                               std::vector<const UOp*>& specials) {
  std::vector<const UOp*> axis = where_.axis;
  for (size_t i : nest_.AxesOf(u)) {
    switch (nest_.axes[i].kind) {
      case AxisKind::kReduce:
      case AxisKind::kStage:
        axis[i] = b_.Range(simplify_(b_.Index(StepsOf(b_, nest_, nest_.axes[i]))));
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

const IndexLowering::ReduceAt& IndexLowering::PlanReduce(const Key& key) {
  const auto [it, fresh] = plans_.try_emplace(key.bits());
  ReduceAt& plan = it->second;
  if (!fresh) return plan;
  const UOp* u = key.node;
  const std::vector<const UOp*> axis = OwnAxes(u, plan.unrolls, plan.ranges, plan.specials);
  analysis::Position from = positions_[key.at];
  for (int64_t k : u->list(1)) from.index[static_cast<size_t>(k)] = b_.Index(0);
  from.valid = ForWholeGroup(u, from);
  size_t num_whole = 0, num_axes = 0;
  for (size_t i = 0; i < nest_.base.size(); ++i) {
    const analysis::BaseAxis& base = nest_.base[i];
    if (base.reduce != u) continue;
    const UOp* value = BaseAxisValue(b_, nest_, i, axis, simplify_);
    from.index[base.dim] = value;
    if (NeedsGuard(i)) {
      const UOp* guard = simplify_(Guard(base, value));
      if (nest_.maps[i].IsPadded()) padded_terms_.emplace_back(guard, value);
      plan.valid = simplify_(analysis::Both(b_, plan.valid, guard));
    }
    if (nest_.maps[i].Overlaps() && !IsIdempotent(static_cast<Op>(u->word()))) {
      plan.first_time = simplify_(
          analysis::Both(b_, plan.first_time, IsFirstTime(b_, nest_, i, axis, simplify_)));
    }
    const auto& parts = plan.parts.emplace_back(i, PartsOfAxis(i, axis)).second;
    from.valid = InLoopsOver(i, parts, from.valid);
    ++num_axes;
    num_whole += std::count(plan.ranges.begin(), plan.ranges.end(), value) > 0;
  }
  plan.is_whole = !plan.valid && num_whole == num_axes && num_axes == nest_.AxesOf(u).size();
  if (plan.valid) from.valid = simplify_(analysis::Both(b_, from.valid, plan.valid));
  plan.source = Intern(std::move(from));
  return plan;
}

const IndexLowering::ReduceAt& IndexLowering::PlanWhole(const Key& key) {
  const auto [it, fresh] = whole_plans_.try_emplace(key.bits());
  ReduceAt& plan = it->second;
  if (!fresh) return plan;
  analysis::Position from = positions_[key.at];
  for (int64_t k : key.node->list(1)) from.index[static_cast<size_t>(k)] = b_.Index(0);
  for (size_t i = 0; i < nest_.base.size(); ++i) {
    const analysis::BaseAxis& base = nest_.base[i];
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

const IndexLowering::StagedAt* IndexLowering::FilledAlong(const Key& key, const ReduceAt& plan) {
  const UOp* staged = key.node->src(0);
  if (staged->op != Op::kStaged || plan.valid || plan.first_time || positions_[plan.source].valid)
    return nullptr;
  std::vector<size_t> own, dims, terms;
  for (size_t i = 0; i < nest_.base.size(); ++i) {
    const analysis::BaseAxis& base = nest_.base[i];
    if (base.reduce == key.node) terms.push_back(base.dim);
    if (base.staged != staged) continue;
    own.push_back(i);
    dims.push_back(base.dim);
  }
  if (own.empty() || dims != terms) return nullptr;
  const StagedAt& fill = PlanStaged({staged, plan.source}, own);
  return IsInOutput(staged, own, fill.source) ? &fill : nullptr;
}

const UOp* IndexLowering::StepReduce(const Key& key, std::vector<Key>& missing) {
  const analysis::Position& at = positions_[key.at];
  if (const UOp* valid = ValidToRead(at, &shapes_.Of(key.node)); valid != at.valid) {
    return Find(key.node, Intern({at.index, valid}), missing);
  }
  const ReduceAt& plan = PlanReduce(key);
  if (const StagedAt* fill = FilledAlong(key, plan)) {
    const UOp* x = Find(key.node->src(0)->src(0), fill->source, missing);
    if (!x) return nullptr;
    ++looped_[key.node];
    return ReduceTerms(b_, free_, static_cast<Op>(key.node->word()), x, fill->unrolls, fill->ranges,
                       target_.MaxTile());
  }
  const UOp* x = Find(key.node->src(0), plan.source, missing);
  if (!x) return nullptr;
  const Op op = static_cast<Op>(key.node->word());
  const bool only_loops =
      plan.unrolls.empty() && plan.specials.empty() && !plan.valid && !plan.first_time;
  const UOp* folded = only_loops ? Fold(op, x, plan.ranges) : nullptr;
  // A reduce that algebra folds needs none of its directives. But if directives split its axis, the
  // parts may hide that it folds, so it is tried again with whole axes.
  const bool in_blocks =
      llvm::any_of(nest_.AxesOf(key.node), [&](size_t i) { return nest_.IsReduceLoop(i); });
  if (folded && in_blocks) return blocks_ = WithEarlierBlocks(op, folded);
  if (!folded && !plan.is_whole && !in_blocks &&
      (simplify::MayFoldReduce(op, x) || IsOneTerm(op, x, plan))) {
    const ReduceAt& whole = PlanWhole(key);
    const UOp* y = Find(key.node->src(0), whole.source, missing);
    if (!y) return nullptr;
    folded = Fold(op, y, whole.ranges);
  }
  if (folded) {
    ++folded_[key.node];
    return folded;
  }
  ++looped_[key.node];
  const UOp* identity = b_.ConstBits(x->dtype, interpret::ReduceIdentity(op, x->dtype.scalar()));
  if (plan.first_time) x = b_.Where(plan.first_time, x, identity);
  if (plan.valid) {
    const bool zero = IsConst(identity) && identity->word() == 0;
    if (!zero || !ZeroOutside(x, plan.valid, 4)) {
      const UOp* product = zero ? ZeroProduct(x, plan.valid) : nullptr;
      x = product ? product : b_.Where(plan.valid, x, identity);
    }
  }
  ReduceAt rest = plan;
  if (const UOp* terms = MatrixTerms(key.node, x, rest)) {
    x = ReduceTerms(b_, free_, op, terms, rest.unrolls, rest.ranges, target_.MaxTile());
    return in_blocks ? blocks_ = WithEarlierBlocks(op, x) : x;
  }
  std::vector<const UOp*> idle;
  if (!in_blocks) idle = HoistInvariantAxes(op, x, rest);
  if (CombinesFirst(x, rest)) x = ReduceLanes(b_, free_, op, x, std::exchange(rest.unrolls, {}));
  x = ReduceTerms(b_, free_, op, x, rest.unrolls, rest.ranges, target_.MaxTile());
  for (const UOp* item : OwnersOf(key.node)) {
    if (!llvm::is_contained(rest.specials, item)) continue;
    llvm::erase_value(rest.specials, item);
    x = CombineItems(b_, op, x, {item, item->src(0)->word(), 1, nullptr});
  }
  if (!rest.specials.empty()) x = GroupReduce(b_, op, x, rest.specials);
  for (const UOp* range : idle) x = Fold(op, x, {range});
  if (in_blocks) x = blocks_ = WithEarlierBlocks(op, x);
  return x;
}

const UOp* IndexLowering::ZeroProduct(const UOp* x, const UOp* valid) {
  if (x->op != Op::kMul) return nullptr;
  for (size_t k = 0; k < 2; ++k) {
    const UOp *gated = x->src(1 - k), *factor = x->src(k);
    if (!ZeroOutside(gated, valid, 4)) continue;
    if (free_.UnrollsOf(factor).size() >= free_.UnrollsOf(x).size()) continue;
    const UOp* zero = b_.ConstBits(factor->dtype, 0);
    return b_.Alu(Op::kMul, {b_.Where(valid, factor, zero), gated});
  }
  return nullptr;
}

bool IndexLowering::IsOneTerm(Op op, const UOp* x, const ReduceAt& plan) {
  if (!IsIdempotent(op)) return false;
  NodeSet below;
  std::vector<const UOp*> order;
  AppendPostOrder(UOpSpan(&x, 1), below, order);
  return llvm::none_of(plan.parts, [&](const auto& axis) {
    return llvm::any_of(axis.second, [&](const UOp* part) { return below.Contains(part); });
  });
}

bool IndexLowering::CombinesFirst(const UOp* x, const ReduceAt& plan) {
  if (plan.unrolls.empty() || plan.ranges.empty()) return false;
  const bool lanes_stay = llvm::any_of(free_.UnrollsOf(x), [&](const UOp* u) {
    return !llvm::is_contained(plan.unrolls, u) &&
           nest_.axes[static_cast<size_t>(u->word())].kind == AxisKind::kVector;
  });
  return lanes_stay && llvm::any_of(PostOrder(x), [&](const UOp* u) {
           return IsLoop(u) && llvm::any_of(free_.RangesOf(u), [&](const UOp* range) {
                    return llvm::is_contained(plan.ranges, range);
                  });
         });
}

std::vector<const UOp*> IndexLowering::HoistInvariantAxes(Op op, const UOp* x, ReduceAt& plan) {
  NodeSet below;
  std::vector<const UOp*> order, out;
  AppendPostOrder(UOpSpan(&x, 1), below, order);
  for (const auto& [base, parts] : plan.parts) {
    const bool varies = std::any_of(parts.begin(), parts.end(),
                                    [&](const UOp* part) { return below.Contains(part); });
    if (varies || NeedsGuard(base) || nest_.maps[base].Overlaps() || nest_.base[base].max_size <= 1)
      continue;
    const UOp* range = b_.Range(simplify_(b_.Index(nest_.base[base].size)));
    if (!Fold(op, x, {range})) continue;
    for (auto* list : {&plan.ranges, &plan.unrolls, &plan.specials}) {
      std::erase_if(*list, [&parts = parts](const UOp* u) {
        return std::find(parts.begin(), parts.end(), u) != parts.end();
      });
    }
    out.push_back(range);
  }
  return out;
}

std::vector<const UOp*> IndexLowering::FoldedReduces() const {
  std::vector<const UOp*> out;
  for (const analysis::BaseAxis& b : nest_.base) {
    const bool folds = b.reduce && folded_.Get(b.reduce) > 0 && looped_.Get(b.reduce) == 0;
    if (folds && (out.empty() || out.back() != b.reduce)) out.push_back(b.reduce);
  }
  return out;
}

const UOp* IndexLowering::Fold(Op op, const UOp* x, const std::vector<const UOp*>& ranges) {
  if (ranges.empty()) return nullptr;
  NodeMap<const UOp*> inside, back;
  const auto hide = [&](const UOp* u, DType memory) {
    const UOp* scratch = b_.Scratch(memory);
    const std::vector<const UOp*> around = free_.RangesOf(u);
    const UOp* at = around.empty() ? scratch : b_.After(scratch, around);
    const bool is_value = u->op != Op::kStage;
    inside[u] = is_value ? b_.Load(b_.IndexPtr(at, b_.Index(0)), nullptr, u->dtype.lanes()) : at;
    back[inside[u]] = u;
  };
  for (const UOp* u : PostOrder(x)) {
    const bool loops = u->op == Op::kReduce && u->num_srcs > 1;
    if (u->op == Op::kStage) hide(u, u->dtype);
    if (!loops && u->op != Op::kGroupReduce) continue;
    hide(u, DType::Pointer(u->dtype.scalar(), u->dtype.lanes(), AddrSpace::kReg));
  }
  const UOp* folded = simplify_(ReduceLoops(b_, op, Rebuilt(body_, x, inside), ranges));
  if (llvm::any_of(PostOrder(folded),
                   [](const UOp* u) { return u->op == Op::kReduce && u->num_srcs > 1; })) {
    return nullptr;
  }
  return Rebuilt(body_, folded, back);
}

}  // namespace tg::indices
