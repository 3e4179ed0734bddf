#include "passes/kernelize/materialization.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "absl/strings/str_cat.h"
#include "passes/kernelize/expression_cost.h"
#include "passes/kernelize/planner.h"

namespace tg::kernelize {
namespace {

// Adds to `forced` the nodes that must be stored so that no kernel reads more than `limit` buffers.
// Returns whether it added any.
bool LimitInputs(UOpSpan order, const MaterializationPlan& plan, size_t limit, Reasons& forced) {
  // Sets of buffers, each sorted, and for each node the set that a kernel reads that computes the
  // node in place. Most nodes have the set of one of their sources, so sets are shared.
  using Ids = llvm::SmallVector<uint32_t, 8>;
  std::vector<Ids> sets = {{}};
  NodeMap<uint32_t> leaves, alone;
  bool added = false;
  const auto reads = [&](const UOp* s) {
    if (!IsStored(s) && !plan.IsRealized(s) && !forced.Has(s)) return leaves.Get(s);
    uint32_t& set = alone[s];
    if (set == 0) {
      set = static_cast<uint32_t>(sets.size());
      sets.push_back({s->id});
    }
    return set;
  };
  for (const UOp* u : order) {
    if (IsStored(u) || u->op == Op::kSink) continue;
    while (true) {
      uint32_t all = 0;
      const UOp* widest = nullptr;
      for (const UOp* s : u->srcs()) {
        const uint32_t its = reads(s);
        if (all == 0) {
          all = its;
        } else if (its != 0 && sets[all] != sets[its]) {
          Ids merged;
          std::set_union(sets[all].begin(), sets[all].end(), sets[its].begin(), sets[its].end(),
                         std::back_inserter(merged));
          all = static_cast<uint32_t>(sets.size());
          sets.push_back(std::move(merged));
        }
        const bool splits = sets[its].size() > 1 && !IsMovement(s->op);
        if (splits && (!widest || sets[its].size() > sets[leaves.Get(widest)].size())) widest = s;
      }
      if (sets[all].size() <= limit || !widest) {
        leaves[u] = all;
        break;
      }
      forced.Set(widest, absl::StrCat("a kernel reads at most ", limit, " buffers"));
      added = true;
    }
  }
  return added;
}

// Returns the nodes of `known` and `stored`. A stored value whose kernel holds no reduce is
// replaced by the values that it reads, because whether such a value is stored depends on its few
// operations, not on the reduces stored below it. Nodes are never removed from `known`: rounds
// could undo each other for ever.
std::vector<const UOp*> AlsoStored(std::vector<const UOp*> known,
                                   const std::vector<const UOp*>& stored,
                                   const MaterializationPlan& plan) {
  std::vector<const UOp*> out = std::move(known);
  NodeSet listed;
  for (const UOp* u : out) listed.Insert(u);
  NodeMap<uint32_t> seen;  // for which of `stored` last, from 1
  uint32_t number = 0;
  llvm::SmallVector<const UOp*, 16> reads, stack;
  for (const UOp* u : stored) {
    bool reduces = u->op == Op::kReduceAxis;
    ++number;
    reads.clear();
    if (plan.IsRealized(u) && !reduces) {
      stack.assign(u->srcs().begin(), u->srcs().end());
      while (!stack.empty() && !reduces) {
        const UOp* s = stack.pop_back_val();
        if (std::exchange(seen[s], number) == number || IsStored(s)) continue;
        if (plan.IsRealized(s)) {
          reads.push_back(s);
          continue;
        }
        reduces = s->op == Op::kReduceAxis;
        stack.append(s->srcs().begin(), s->srcs().end());
      }
    }
    if (reduces || reads.empty()) reads = {u};
    for (const UOp* s : reads) {
      if (listed.Insert(s)) out.push_back(s);
    }
  }
  return out;
}

}  // namespace

bool IsStored(const UOp* u) {
  switch (u->op) {
    case Op::kBuffer:
    case Op::kAfter:
    case Op::kBufferView:
    case Op::kCopy:
      return true;
    case Op::kAssign:
      return IsCall(u->src(1)->op);
    default:
      return false;
  }
}

const UOp* DeviceCopyOf(const UOp* u, const MaterializationPlan& plan) {
  if (u->op == Op::kCopy) return u;
  if (u->op != Op::kAssign || u->src(1)->op != Op::kCopy) return nullptr;
  return plan.IsRealized(u->src(1)) ? nullptr : u->src(1);
}

const UOp* ComputedValue(const UOp* u) {
  if (u->op == Op::kContiguous) return u->src(0);
  if (u->op == Op::kAssign) return u->src(1);
  return u;
}

MaterializationPlan PlanMaterialization(const PlannedGraph& graph, const FusionChoices& choices,
                                        UseTable& uses, NodeMap<UseList>& read_uses) {
  const UOpSpan order = graph.order;
  Reasons forced;
  for (const UOp* u : choices.stored)
    forced.Set(u, "its kernel is predicted to be slower than two");
  // The cost of a value depends on which of its sources are stored, which depends on the value's
  // uses. A few rounds settle it.
  constexpr int kRounds = 4;
  FusionFacts known;
  Gathers gathers(graph.module, *graph.body.context, graph.shapes);
  gathers.FindAll(order);
  CostModel cost(graph.module, graph.body, graph.shapes, graph.target, gathers);
  for (int round = 1;; ++round) {
    read_uses = {};
    PlannedRound found = PlanRound(graph, choices, uses, cost, gathers, forced, known, read_uses);
    MaterializationPlan& plan = found.plan;
    found.facts.stored = AlsoStored(known.stored, found.facts.stored, plan);
    // These facts are collected over all rounds; otherwise rounds could undo each other here too.
    for (const Realized& r : plan.realized) {
      if (round == 1 || known.realized.Contains(r.node)) found.facts.realized.Insert(r.node);
    }
    const auto changes = [&](const StagingDecision& decision) {
      return decision.By(found.facts.realized, cost).staged != decision.staged;
    };
    bool news =
        std::any_of(found.staging_decisions.begin(), found.staging_decisions.end(), changes);
    news = news || found.cuts || found.facts.stored.size() != known.stored.size();
    if (!news && found.stages) {
      // Often no decision depends on the newly staged values; then no further round is needed.
      cost.ComputeExpressionCosts(order, found.facts.stored, found.facts.staged);
      news = std::any_of(found.asked.begin(), found.asked.end(), [&](const DependsOnStaged& asked) {
        return asked.By(found.facts, cost) != asked;
      });
    }
    known = std::move(found.facts);
    if (round < kRounds && news) continue;
    const auto most = static_cast<size_t>(graph.options.max_inputs);
    if (most == 0 || !LimitInputs(order, plan, most, forced)) {
      return std::move(plan);
    }
  }
}

}  // namespace tg::kernelize
