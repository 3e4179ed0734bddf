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
  const UOp* node = nullptr;   // the load or store
  int64_t slot = 0;            // the kernel's argument
  const UOp* index = nullptr;  // element number, over one `range` an axis
  const UOp* valid = nullptr;  // null: always
  // By axis: elements moved by one step (0: none); nullopt where the address is not linear in it.
  std::vector<std::optional<int64_t>> stride;
  std::vector<bool> masked;  // by axis: whether `valid` depends on it
  std::vector<Edges> edges;  // by axis: where it changes

  bool is_store() const { return node->op == Op::kStore; }
};

// One entry for each place where an access is read or written in another way. Nodes are made in the
// body's context.
std::vector<Access> FindAccesses(Body& body, const std::vector<BaseAxis>& axes, ShapeMap& shapes,
                                 SimplifyFn simplify);

}  // namespace tg

#endif  // TG_PASSES_ANALYSIS_ACCESSES_H_
