// Chooses the values that are materialized in a buffer. Other values are recomputed at each use.
//
// Nodes are visited from the results to the inputs, so that all uses of a node are known when it is
// reached (passes/kernelize/uses.h). A node with one use that evaluates each element once is
// computed in place. A node with several uses, or whose elements are evaluated repeatedly, is
// recomputed or stored, whichever costs less. Costs depend on which nodes are stored, so the walk
// is repeated until nothing changes, at most four times. After that it is repeated as long as the
// bound on the buffers of a kernel makes it store more values.
#ifndef TG_PASSES_KERNELIZE_MATERIALIZATION_H_
#define TG_PASSES_KERNELIZE_MATERIALIZATION_H_

#include <optional>
#include <string>
#include <vector>

#include "ir/module.h"
#include "ir/shape.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "passes/kernelize/joint_assigns.h"
#include "passes/kernelize/uses.h"
#include "passes/target.h"

namespace tg::kernelize {

// Why a value is stored.
struct Reason {
  std::string text;  // for `explain`
  // If bounds of costs are all that is against computing it in place: the seconds that this would
  // add, by these bounds.
  std::optional<double> in_place_seconds;
};

// A node whose value is stored in a buffer, by a kernel.
struct Realized {
  const UOp* node = nullptr;
  Reason reason;
  Shape rows;  // the stored shape with split axes (row_shape.h); empty: not split
};

// A staged node: a value that the only kernel that uses it caches in its memory.
struct StagedValue {
  const UOp* kernel = nullptr;  // the realized node
  std::string reason;           // for `explain`
};

struct MaterializationPlan {
  std::vector<Realized> realized;  // sources before users
  NodeMap<int> number;             // 1 + position in `realized`; 0: computed in place
  llvm::DenseMap<const UOp*, StagedValue> staged;

  // Of a node that is realized.
  const Realized& Of(const UOp* u) const {
    return realized[static_cast<size_t>(number.Get(u)) - 1];
  }
  bool IsRealized(const UOp* u) const { return number.Get(u) != 0; }
};

// Whether the node is in memory before any kernel of this graph runs, or is written by an op other
// than a kernel: buffer, an assign by a kernel that exists already, after, buffer_view, copy.
bool IsStored(const UOp* u);

// If a copy between devices stores realized node `u`, and not a kernel: that copy. It is `u`
// itself, or the value of an assign to a whole buffer if nothing else uses that value. Otherwise
// null.
const UOp* DeviceCopyOf(const UOp* u, const MaterializationPlan& plan);

// The value that the kernel of realized node `u` computes.
const UOp* ComputedValue(const UOp* u);

struct MaterializationOptions {
  // A bound on the number of buffers that a kernel reads. Expressions are split to meet it if
  // possible. 0: no bound.
  int64_t max_inputs = 0;
  bool fuse = true;  // whether a kernel may hold several reduces
  bool keep = true;  // whether kernels stage values in kernel memory
};

// A graph that is partitioned into kernels: what all its plans have in common.
struct PlannedGraph {
  const Module& module;
  const Body& body;
  UOpSpan order;  // the nodes that the root reaches, sources first
  ShapeMap& shapes;
  const passes::Target& target;
  const MaterializationOptions& options;
  // Nodes that are computed in place at any cost, together with all nodes below them down to nodes
  // that must be stored.
  const NodeSet& fused;
  const JointAssigns& joint;
};

// Decisions that predictions of whole kernels have made (predicted_moves.h), and not bounds: values
// that are stored, and values that are not.
struct FusionChoices {
  llvm::DenseSet<const UOp*> stored, in_place;
};

// Makes the plan of a graph. `read_uses` receives, for each stored node, its uses by kernels.
MaterializationPlan PlanMaterialization(const PlannedGraph& graph, const FusionChoices& choices,
                                        UseTable& uses, NodeMap<UseList>& read_uses);

}  // namespace tg::kernelize

#endif  // TG_PASSES_KERNELIZE_MATERIALIZATION_H_
