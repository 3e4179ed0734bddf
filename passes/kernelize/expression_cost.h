// The work in the expressions of values, and what it costs to compute them again, to store them, or
// to stage them, by the bounds of passes/cost (cost/bounds.h):
//
//   store    = StoredSeconds(bytes)                                 written and read once
//   compute  = ArithmeticSeconds(evaluations * weight)              weight: OpWeight, times terms
//   reduce   = compute + TransferSeconds(evaluations * bytes of the terms)
//   utilization = RowUtilization(rows, work-items of a row)
//
// A value is recomputed if compute <= store, where only the evaluations beyond one of each element
// count. A reduce that the results along a row share stays in
// the kernel if IdleSeconds(max(reduce, TransferSeconds(bytes of the results)), utilization)
// <= store. A value of a row is staged if
//
//   IdleSeconds(reduce, utilization of tiles) + TransferSeconds((tiles - 1) * shared bytes)
//       <= store
//
// where a tile is Target::tile_side rows, and the second term counts only if the data that all rows
// share exceed the target's cache. If they only exceed twice a CPU's L1 cache, each tile rereads
// them at the rate of kernel memory: a kernel of one product packs them, a row-fused one does not.
// Kernel memory is as fast as the caches of all cores together.
#ifndef TG_PASSES_KERNELIZE_EXPRESSION_COST_H_
#define TG_PASSES_KERNELIZE_EXPRESSION_COST_H_

#include <vector>

#include "ir/module.h"
#include "ir/shape.h"
#include "passes/kernelize/gathers.h"
#include "passes/target.h"

namespace tg::kernelize {

// The cost of a node's expression tree. Its leaves are the stored nodes.
struct ExpressionCost {
  double weight = 0;       // operations per element; a shared node counts once for each use
  double terms = 1;        // terms per element: the product of the trip counts of nested reduces
  bool reduces = false;    // contains a reduce that is not below an expand
  bool reads = false;      // contains anything but constants and index arithmetic
  int rows = 0;            // depth of nested reduces below expands, which a row-fused kernel would
                           // compute once per row
  double row_seconds = 0;  // their arithmetic, with each of their elements computed once
  friend bool operator==(const ExpressionCost&, const ExpressionCost&) = default;
};

class CostModel {
 public:
  CostModel(const Module& module, const Body& body, ShapeMap& shapes, const passes::Target& target,
            Gathers& gathers)
      : module_(module), body_(body), shapes_(shapes), target_(target), gathers_(gathers) {}

  // Computes the expression costs of all nodes of `order`, sources first. `stored`: the nodes that
  // are known to be stored; a later call may pass a longer list that begins with these. `staged`:
  // the nodes that are known to be staged.
  void ComputeExpressionCosts(UOpSpan order, const std::vector<const UOp*>& stored,
                              const NodeSet& staged);
  const ExpressionCost& ExpressionCostOf(const UOp* u) const { return expressions_.Get(u); }
  // The cost of the expression tree if staged nodes are leaves too: the part that a kernel computes
  // again at each use, although it stages these nodes.
  const ExpressionCost& CostAboveStaged(const UOp* u) const {
    return any_staged_ ? above_staged_.Get(u) : expressions_.Get(u);
  }

  // The weight of the expression tree with the nodes in `stored` as additional leaves.
  double WeightAbove(const UOp* u, const NodeSet& stored) const;

  // Whether `u` casts to a wider type where each use of the elements does that at no cost, so that
  // its source is stored instead.
  bool IsFreeWidening(const UOp* u) const;
  // What is stored instead of such a cast: its source, or the value that is repeated there.
  static const UOp* SourceOfWidening(const UOp* cast);
  double Elements(const UOp* u);  // symbolic extents count with their greatest values
  // Seconds to write `u` once and read it once, with the launch of a kernel.
  double StoreSeconds(const UOp* u);
  // Seconds to write `elements` of the type of `u`.
  double WriteSeconds(const UOp* u, double elements) const;
  // Seconds for `evaluations` of the expression on the whole device.
  double ComputeSeconds(const ExpressionCost& expression, double evaluations) const;
  // Seconds for the reduces in the expression of `u`, including their memory traffic.
  double ReduceSeconds(const UOp* u, double evaluations) const;
  // The bytes of kernel memory that may hold staged values of one row of results: a part of a
  // group's local memory, or on a CPU twice a core's nearest cache.
  double StagingCapacityBytes() const;
  // Seconds to read the terms of the reduces in the expression of `u` from kernel memory.
  double TermSeconds(const UOp* u, double evaluations) const;
  // Seconds to write `u` once to kernel memory and read it once.
  double NearSeconds(const UOp* u);
  // Seconds lost if `u` is staged in a row-wise kernel instead of computed by a separate kernel:
  // cores are idle, or data that all rows share are reread for every tile of rows. The kernel
  // stages `staged_elements` elements of `u` for each of `parallel` rows; the work-items of a group
  // may share the `row` results or terms of a row.
  double StagingSeconds(const UOp* u, double parallel, double staged_elements, double row);
  // Seconds by which matrix instructions, which only a kernel without other reduces has, compute
  // the products in the expression of `u` faster. 0 if there are no such products.
  double MatrixSeconds(const UOp* u);

 private:
  // The weight of the op without its sources. `reads` is as in ExpressionCost.
  double OwnWeight(const UOp* u, bool reads) const;
  // Computes the costs of the nodes in `order`, where `leaves` are leaves of every tree.
  void ComputeExpressionCosts(UOpSpan order, const NodeSet& leaves,
                              NodeMap<ExpressionCost>& expressions);

  const Module& module_;
  const Body& body_;
  ShapeMap& shapes_;
  const passes::Target& target_;
  Gathers& gathers_;
  NodeMap<ExpressionCost> expressions_, above_staged_;
  size_t num_stored_ = SIZE_MAX;  // length of `stored` for which expressions_ was computed
  bool any_staged_ = false;
  NodeMap<double> elements_;
};

// Expressions of constants and indices with at most this weight are always recomputed: a buffer
// would take a store and a load, each as heavy as a load with a gate.
inline double FreeIndexWeight(const passes::Target& target) { return 2 * target.gate_weight; }

}  // namespace tg::kernelize

#endif  // TG_PASSES_KERNELIZE_EXPRESSION_COST_H_
