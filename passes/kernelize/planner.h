// One round of planning what is stored: a walk from the results to the inputs, with a decision at
// each node from the ways in which it is used. What it finds out too late is for the next round.
#ifndef TG_PASSES_KERNELIZE_PLANNER_H_
#define TG_PASSES_KERNELIZE_PLANNER_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "ir/walk.h"
#include "passes/kernelize/cost.h"
#include "passes/kernelize/materialization.h"

namespace tg {

// Why nodes are stored.
class Reasons {
 public:
  bool Has(const UOp* u) const { return !Of(u).empty(); }
  const std::string& Of(const UOp* u) const { return text_.Get(u); }
  // The latest counts.
  void Set(const UOp* u, std::string reason) { text_[u] = std::move(reason); }

 private:
  SparseNodeMap<std::string> text_;
};

// What a round of planning finds out for the next one.
struct FusionFacts {
  // What holds a reduce and would be evaluated more often than it has elements in any case.
  std::vector<const UOp*> stored;
  // What kernels keep instead, and these kernels.
  NodeSet kept, keepers;
  NodeSet realized;           // all that the round's plan stores
  NodeSet crowding;           // reduces that are stored in place of one that waits for more kernels
  SparseNodeMap<Shape> rows;  // by kernel: what it stores, with axes cut; empty: as it is
};

// Whether the reduces that `node` holds are all behind what the one kernel that uses it keeps:
// asked and answered by a round with what the round before had found out.
struct DependsOnStaged {
  const UOp* node;
  const UOp* kernel;  // null: several use it
  bool answer = false;
  ExpressionCost above{};  // if so, what that kernel computes again

  // The answer by other facts, which `cost` has its expressions from.
  DependsOnStaged By(const FusionFacts& known, const CostModel& cost) const;
  friend bool operator==(const DependsOnStaged&, const DependsOnStaged&) = default;
};

// Whether `node`, of a few operations and no reduce, is kept in a row-fused kernel rather than
// computed `times` more: `other_seconds` are lost by that whatever its operations take.
struct StagingDecision {
  const UOp* node;
  double times;
  double other_seconds;
  bool kept = false;

  // The decision where all of `realized` is stored.
  StagingDecision By(const NodeSet& realized, CostModel& cost) const;
};

struct PlannedRound {
  MaterializationPlan plan;
  FusionFacts facts;
  bool cuts = false;    // there are axes to cut that were not
  bool crowds = false;  // a reduce is to be stored that was not
  bool keeps = false;   // values are kept that were not known
  std::vector<StagingDecision> staging_decisions;
  // All that was asked of what is kept: a round with other facts about that which gives the same
  // answers makes the same plan.
  std::vector<DependsOnStaged> asked;
};

// `order`: the nodes of graph `body`, sources first. `forced`: what is stored in any case; `known`:
// what the round before found. The rest as for PlanMaterialization.
PlannedRound PlanRound(const Body& body, UOpSpan order, ShapeMap& shapes, UseTable& uses,
                       const Target& target, CostModel& cost, Gathers& gathers,
                       const MaterializationOptions& options, const Reasons& forced,
                       const FusionFacts& known, const NodeSet& fused, NodeMap<UseList>& read_uses);

}  // namespace tg

#endif  // TG_PASSES_KERNELIZE_PLANNER_H_
