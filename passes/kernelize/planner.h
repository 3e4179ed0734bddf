// One round of the materialization planner: a walk from the results to the inputs that decides
// about each node, given its uses. Facts that are found too late for a decision of the same round
// are passed to the next round.
#ifndef TG_PASSES_KERNELIZE_PLANNER_H_
#define TG_PASSES_KERNELIZE_PLANNER_H_

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ir/walk.h"
#include "passes/kernelize/expression_cost.h"
#include "passes/kernelize/materialization.h"

namespace tg::kernelize {

// For each stored node, the reason.
class Reasons {
 public:
  bool Has(const UOp* u) const { return !Of(u).text.empty(); }
  const Reason& Of(const UOp* u) const { return reasons_.Get(u); }
  // A later call for the same node replaces the reason.
  void Set(const UOp* u, std::string text, std::optional<double> in_place_seconds = std::nullopt) {
    reasons_[u] = {std::move(text), in_place_seconds};
  }

 private:
  SparseNodeMap<Reason> reasons_;
};

// Facts that one round of planning passes to the next.
struct FusionFacts {
  // Values that contain a reduce and whose elements would be evaluated repeatedly in any case.
  std::vector<const UOp*> stored;
  // Values that kernels stage instead, and these kernels.
  NodeSet staged, staging_kernels;
  NodeSet realized;           // all values that the round's plan stores
  NodeSet products;           // results of products that leave their kernels to another product
  SparseNodeMap<Shape> rows;  // by kernel: the stored shape with split axes; empty: not split
};

// A question that a round answers with the facts of the previous round: whether all reduces in the
// expression of `node` are below values that its only kernel stages.
struct DependsOnStaged {
  const UOp* node;
  const UOp* kernel;  // null: several use it
  bool answer = false;
  ExpressionCost above{};  // if so, the cost of the part that the kernel recomputes

  // Asks the same question of other facts, whose expression costs `cost` holds.
  DependsOnStaged By(const FusionFacts& known, const CostModel& cost) const;
  friend bool operator==(const DependsOnStaged&, const DependsOnStaged&) = default;
};

// The decision whether `node`, an expression of few operations without a reduce, is staged in a
// row-fused kernel instead of being recomputed `times` times. Recomputing costs `other_seconds` in
// addition to its operations.
struct StagingDecision {
  const UOp* node;
  double times;
  double other_seconds;
  bool staged = false;

  // The same decision if all nodes in `realized` are stored.
  StagingDecision By(const NodeSet& realized, CostModel& cost) const;
};

struct PlannedRound {
  MaterializationPlan plan;
  FusionFacts facts;
  bool cuts = false;    // whether it found axes to split that were not split yet
  bool stages = false;  // whether it staged values that were not known to be staged
  std::vector<StagingDecision> staging_decisions;
  // All questions that were asked about staged values. If other facts give the same answers, a
  // round with these facts makes the same plan.
  std::vector<DependsOnStaged> asked;
};

// `forced`: nodes that are stored in any case. `known`: the facts of the previous round. The other
// parameters are those of PlanMaterialization.
PlannedRound PlanRound(const PlannedGraph& graph, const FusionChoices& choices, UseTable& uses,
                       CostModel& cost, Gathers& gathers, const Reasons& forced,
                       const FusionFacts& known, NodeMap<UseList>& read_uses);

}  // namespace tg::kernelize

#endif  // TG_PASSES_KERNELIZE_PLANNER_H_
