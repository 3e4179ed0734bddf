// The cost model of kernelize: seconds for recomputing a value and for storing it. Rates are those
// of the target (flops_per_second, bytes_per_second, launch_seconds, compute_units).
//
//   store    = 2 * bytes / bytes_per_second + launch_seconds        written and read once
//   compute  = evaluations * weight / flops_per_second              weight: OpWeight, times terms
//   reduce   = compute + evaluations * bytes of the terms / bytes_per_second
//   utilization = min(1, rows * work-items of a row / what the device runs at a time)
//
// A value is recomputed while compute <= store. A reduce that results along a row share stays in
// the kernel while reduce * (1 / utilization - 1) <= store. A value of a row is staged while
//
//   reduce * (1 / utilization of tiles - 1) + (tiles - 1) * shared bytes / bytes_per_second
//       <= store
//
// where a tile is four rows, and the second term counts only if what all rows share exceeds the
// target's cache. Kernel memory is taken to be 8 times (GPU: 4 times) as fast as the device's.
#ifndef TG_PASSES_KERNELIZE_COST_H_
#define TG_PASSES_KERNELIZE_COST_H_

#include <vector>

#include "ir/module.h"
#include "ir/shape.h"
#include "passes/kernelize/gathers.h"
#include "passes/target.h"

namespace tg {

// The cost of an op relative to an addition.
double OpWeight(Op op);

// Bottom-up facts about the expression tree of a node, whose leaves are stored nodes.
struct ExpressionCost {
  double weight = 0;     // operations an element, shared nodes counted as often as they are used
  double terms = 1;      // innermost elements an element: what its reduces run over
  bool reduces = false;  // holds a reduce that no expand would store anyway
  bool reads = false;    // holds anything but constants and places
  int rows = 0;          // reduces beneath expands, one beneath the other, that a row-fused kernel
                         // would compute once for each row
  double row_seconds = 0;  // of their arithmetic, once for each of their elements
  friend bool operator==(const ExpressionCost&, const ExpressionCost&) = default;
};

class CostModel {
 public:
  CostModel(const Module& module, const Body& body, ShapeMap& shapes, const Target& target,
            Gathers& gathers)
      : module_(module), body_(body), shapes_(shapes), target_(target), gathers_(gathers) {}

  // `order`: all nodes, sources first. `stored`: the nodes that are known to be stored, to which
  // later calls may add; `kept`: the nodes that are known to be staged in kernels.
  void ComputeExpressionCosts(UOpSpan order, const std::vector<const UOp*>& stored,
                              const NodeSet& kept);
  const ExpressionCost& ExpressionCostOf(const UOp* u) const { return expressions_.Get(u); }
  // The facts about the expression tree whose leaves include staged nodes: the part that a kernel
  // with these nodes recomputes.
  const ExpressionCost& CostAboveStaged(const UOp* u) const {
    return any_staged_ ? above_staged_.Get(u) : expressions_.Get(u);
  }

  // The weight of the expression tree with the nodes in `stored` as additional leaves.
  double WeightAbove(const UOp* u, const NodeSet& stored) const;

  // The cost of reading a padded value, in additions.
  static constexpr double kGateWeight = 16;
  // The number of operations on constants and indices that are always recomputed.
  static constexpr double kIndexArithmeticWeight = 32;
  // A reduce of fewer operations an element than this is repeated rather than stored, if it pays.
  static constexpr double kFreeReduce = 4;

  double Elements(const UOp* u);  // of its shape, the greatest where it is symbolic
  // Seconds to write `u` once, read it once and launch the kernel that does.
  double StoreSeconds(const UOp* u);
  // Seconds for `evaluations` of such an expression on the whole device.
  double ComputeSeconds(const ExpressionCost& expression, double evaluations) const;
  // Seconds for the reduces that `u` holds, memory traffic included.
  double ReduceSeconds(const UOp* u, double evaluations) const;
  // The capacity of kernel memory for one row of results: a part of a group's local memory, or of
  // the cache of a core.
  double StagingCapacityBytes() const;
  // Seconds to read the terms of the reduces that `u` holds from there.
  double TermSeconds(const UOp* u, double evaluations) const;
  // Seconds to write `u` once to such memory, and read it once.
  double NearSeconds(const UOp* u);
  // Seconds lost if `u` is staged in a row-wise kernel instead of computed by a separate kernel:
  // cores are idle, or data that all rows share is read again for every few rows. The kernel stages
  // `room` elements of `u` for each of `parallel` rows, and a group may share the `row` results or
  // terms of a row.
  double StagingSeconds(const UOp* u, double parallel, double room, double row);

 private:
  double NearBytesPerSecond() const;
  // Of the op alone; `reads`: what it is made of.
  double OwnWeight(const UOp* u, bool reads) const;
  // Those of nodes in `order`, above the `leaves`.
  void ComputeExpressionCosts(UOpSpan order, const NodeSet& leaves,
                              NodeMap<ExpressionCost>& expressions);

  const Module& module_;
  const Body& body_;
  ShapeMap& shapes_;
  const Target& target_;
  Gathers& gathers_;
  NodeMap<ExpressionCost> expressions_, above_staged_;
  size_t num_stored_ = SIZE_MAX;  // that expressions_ knows of
  bool any_staged_ = false;
  NodeMap<double> elements_;
};

// Results that a kernel should have at least, so that the device has work everywhere.
int64_t WantedParallelism(const Target& target);
// How many work-items of a group share each of `parallel` rows of `row` results or terms: 1 but on
// a GPU.
double RowItems(const Target& target, double parallel, double row);
// How much of the device `parallel` rows of work keep busy, each of which `row` work-items of a
// group may share: 0 to 1.
double Utilization(const Target& target, double parallel, double row);

}  // namespace tg

#endif  // TG_PASSES_KERNELIZE_COST_H_
