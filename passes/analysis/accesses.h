// How a kernel at Stage::kKernel reads and writes memory: the address of every load and store as an
// expression over its axes, and its stride along each.
#ifndef TG_PASSES_ANALYSIS_ACCESSES_H_
#define TG_PASSES_ANALYSIS_ACCESSES_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "ir/module.h"
#include "ir/shape.h"
#include "passes/analysis/indexing.h"
#include "passes/analysis/kernel_axes.h"

namespace tg {

// Where a condition begins or ceases to hold along an axis: at one of the steps first..last, which
// one other axes say. 0 < first and last < the axis's size.
struct Edge {
  int64_t first = 0, last = 0;
};
// Of all parts of a condition; `anywhere`: some part may change at every step.
struct Edges {
  std::vector<Edge> at;
  bool anywhere = false;
};

struct Access {
  const UOp* node = nullptr;  // the load or store
  int64_t slot = 0;           // the kernel's argument
  bool is_gated = false;      // made under a condition
  // By axis: elements moved by one step (0: none); nullopt where the address is not linear in it.
  std::vector<std::optional<int64_t>> stride;
  std::vector<bool> masked;  // by axis: whether the condition depends on it
  std::vector<Edges> edges;  // by axis: where it changes

  bool is_store() const { return node->op == Op::kStore; }
};

// Limit on the combinations of indices and conditions through which one node is followed. Each pair
// of a shrink and a pad may double their number. Beyond the limit, the loads below the node get one
// more entry, of which nothing is known: no stride, and a condition along all axes.
inline constexpr size_t kMaxPlacesPerNode = 64;

// One entry for each combination of indices and conditions at which a load or store is made. The
// time is linear in the nodes times kMaxPlacesPerNode. Nodes are made in the body's context.
std::vector<Access> FindAccesses(Body& body, const std::vector<BaseAxis>& axes, ShapeMap& shapes,
                                 SimplifyFn simplify);

}  // namespace tg

#endif  // TG_PASSES_ANALYSIS_ACCESSES_H_
