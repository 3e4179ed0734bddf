#include "passes/kernelize/planner.h"

#include <algorithm>
#include <string_view>

#include "ir/measure.h"
#include "ir/tuple.h"
#include "llvm/ADT/STLExtras.h"
#include "passes/kernelize/planning_round.h"
#include "passes/kernelize/row_shape.h"
#include "passes/kernelize/versions.h"

namespace tg::kernelize {

Planner::Planner(const PlannedGraph& graph, const FusionChoices& choices, UseTable& uses,
                 CostModel& cost, Gathers& gathers, const Reasons& forced, const FusionFacts& known,
                 NodeMap<UseList>& read_uses)
    : body_(graph.body),
      order_(graph.order),
      shapes_(graph.shapes),
      uses_(uses),
      target_(graph.target),
      cost_(cost),
      gathers_(gathers),
      options_(graph.options),
      choices_(choices),
      known_(known),
      joint_(graph.joint),
      fused_(graph.fused),
      read_uses_(read_uses),
      reasons_(forced) {
  node_uses_.Reserve(body_.context->num_nodes());
  facts_.rows = known.rows;
  facts_.products = known.products;
  cost_.ComputeExpressionCosts(order_, known.stored, known.staged);
  for (const UOp* u : order_) {
    for (const UOp* s : u->srcs()) {
      ++users_[s];
      last_user_[s] = u;
    }
  }
}

MaterializationPlan Planner::Run() {
  for (const UOp* root : body_.root->srcs()) {
    if (IsMeasure(root)) {
      Force(root->src(1), "decides a size");
    } else if (!IsStored(root)) {
      reasons_.Set(root, "result of the graph");
    }
  }
  for (auto it = order_.rbegin(); it != order_.rend(); ++it) Visit(*it);
  MaterializationPlan plan;
  plan.staged = std::move(staged_);
  for (const UOp* u : order_) {
    if (!reasons_.Has(u)) continue;
    plan.realized.push_back({u, reasons_.Of(u), {}});
    const UOp* kernel = joint_.LeaderOf(u);
    const KernelState& state = kernels_[kernel];
    if (state.serial || state.divided) plan.realized.back().rows = RowsOf(kernel);
    plan.number[u] = static_cast<int>(plan.realized.size());
  }
  return plan;
}

void Planner::MoveTo(PlannedRound& round) {
  round.facts = std::move(facts_);
  round.asked = std::move(queried_);
  round.staging_decisions = std::move(staging_decisions_);
  round.cuts = cuts_;
  round.stages = stages_;
}

void Planner::Visit(const UOp* u) {
  if (u->op == Op::kSink || u->op == Op::kBind) return;
  if (u->op == Op::kCopy) return VisitCopy(u);
  if (IsStored(u)) {
    UseList& reads = read_uses_[u];
    reads.insert(reads.end(), node_uses_[u].begin(), node_uses_[u].end());
    // A value that is read by an op other than a kernel must be stored.
    if (u->op == Op::kBufferView) Force(u->src(0), "source of a copy");
    if (u->op == Op::kBufferView || u->op == Op::kAfter || u->op == Op::kAssign) {
      // The target of an assign is a place in memory, not a use of a value, also through movement
      // ops.
      for (const UOp* s : u->srcs().subspan(u->op == Op::kAssign ? 1 : 0)) {
        Force(s, "written in place");
      }
    }
    return;
  }
  if (u->op == Op::kContiguous) reasons_.Set(u, "contiguous");
  if (u->op == Op::kAssign) {
    const UOp* value = u->src(1);
    const bool by_copy =
        value->op == Op::kCopy && users_.Get(value) == 1 && IsWholeMemory(u->src(0));
    if (by_copy) assigned_.Insert(value);
    reasons_.Set(u, by_copy ? "copied to " + DeviceOf(value) : "assign");
  }
  if (!reasons_.Has(u)) {
    const bool is_product = known_.products.Contains(u);
    double in_place = 0;
    std::string reason =
        is_product ? "a tile of matrix instructions has one product" : Decide(u, &in_place);
    const UOp* const stored = cost_.IsFreeWidening(u) ? CostModel::SourceOfWidening(u) : u;
    std::optional<double> in_place_seconds;
    // The uses of what it is computed from would multiply.
    const bool may_stay = !is_product && node_uses_[u].size() <= kMaxUses;
    if (may_stay) in_place_seconds = in_place;
    const bool stores =
        !reason.empty() && !fused_.Contains(u) && !(may_stay && StaysInPlace(stored));
    if (stores && stored != u) {
      Force(stored, reason, in_place_seconds);
    } else if (stores) {
      reasons_.Set(u, std::move(reason), in_place_seconds);
    }
  }
  if (fused_.Contains(u) && !reasons_.Has(u)) {
    for (const UOp* s : u->srcs()) fused_.Insert(s);
  }
  if (reasons_.Has(u)) {
    UseList& reads = read_uses_[u];
    reads.insert(reads.end(), node_uses_[u].begin(), node_uses_[u].end());
    const UOp* kernel = joint_.LeaderOf(u);
    node_uses_[u] = {uses_.Root(kernel, facts_.rows.Get(kernel))};
  }
  if (u->op == Op::kReduceAxis && !gathers_.Is(u)) {
    for (UseId use : node_uses_[u]) {
      const UOp* kernel = uses_.KernelOf(use);
      llvm::SmallVector<const UOp*, 2>& reduces = kernels_[kernel].reduces;
      if (!llvm::is_contained(reduces, u)) reduces.push_back(u);
      kernels_[kernel].reduced |= uses_.Varies(use) & uses_.OuterLoops(kernel);
    }
    if (!reasons_.Has(u)) KeepOneProduct(u);
  }
  Propagate(u);
}

void Planner::VisitCopy(const UOp* u) {
  const std::string to = DeviceOf(u);
  if (!assigned_.Contains(u)) {
    reasons_.Set(u, "copied to " + to);
    UseList& reads = read_uses_[u];
    reads.insert(reads.end(), node_uses_[u].begin(), node_uses_[u].end());
    node_uses_[u] = {uses_.Root(u)};
  }
  Force(u->src(0), "source of a copy to " + to);
  for (UseId use : node_uses_[u]) AddUse(u->src(0), use);
}

std::string Planner::DeviceOf(const UOp* copy) const {
  const std::string name(body_.context->String(static_cast<StringId>(copy->word())));
  return name.empty() ? "the default device" : "device '" + name + "'";
}

void Planner::Force(const UOp* u, std::string_view reason, std::optional<double> in_place_seconds) {
  if (!IsStored(u) && !IsCall(u->op) && u->dtype != kVoid && !reasons_.Has(u)) {
    reasons_.Set(u, std::string(reason), in_place_seconds);
  }
}

Shape Planner::RowsOf(const UOp* kernel) {
  const Shape& cut = facts_.rows.Get(kernel);
  if (!target_.HidesWaits()) return cut;
  const Shape& whole = shapes_.Of(kernel);
  const Shape merged = MergeAlong(cut.empty() ? whole : cut, kernels_[kernel].serial);
  return merged == whole ? Shape() : merged;
}

void Planner::AddUse(const UOp* u, UseId use) {
  UseList& uses = node_uses_[u];
  if (std::find(uses.begin(), uses.end(), use) == uses.end()) uses.push_back(use);
}

void Planner::Propagate(const UOp* u) {
  for (UseId use : node_uses_[u]) {
    if (u->op == Op::kContiguous) {
      AddUse(u->src(0), use);
    } else if (u->op == Op::kAssign) {
      AddUse(u->src(1), use);
    } else if (u->op == Op::kReduceAxis) {
      AddUse(u->src(0), gathers_.Is(u) ? uses_.OfOneTerm(use, u) : uses_.Inside(use, u));
    } else if (u->op == Op::kReduceTuple) {
      for (const UOp* x : TupleValues(u)) AddUse(x, uses_.Inside(use, u));
    } else if (u->op == Op::kPad && uses_.ReadsPadding(use, u)) {
      continue;  // each element of a stack of values is a sum of all of them, padded
    } else if (IsMovement(u->op)) {
      AddUse(u->src(0), uses_.Through(use, u));
    } else if (IsElementwise(u->op)) {
      for (const UOp* s : u->srcs()) AddUse(s, use);
    }
  }
}

PlannedRound PlanRound(const PlannedGraph& graph, const FusionChoices& choices, UseTable& uses,
                       CostModel& cost, Gathers& gathers, const Reasons& forced,
                       const FusionFacts& known, NodeMap<UseList>& read_uses) {
  Planner planner(graph, choices, uses, cost, gathers, forced, known, read_uses);
  PlannedRound round;
  round.plan = planner.Run();
  planner.MoveTo(round);
  return round;
}

}  // namespace tg::kernelize
