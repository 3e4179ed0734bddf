// The copies of packed values that a scheduled kernel makes: which there are, what each has of a
// value, and how its elements lie.
#ifndef TG_PASSES_COST_KERNEL_COPIES_H_
#define TG_PASSES_COST_KERNEL_COPIES_H_

#include <cstdint>
#include <vector>

#include "passes/cost/kernel_nests.h"
#include "passes/cost/scheduled_work.h"
#include "passes/loop_nest/loop_nest.h"

namespace tg::cost {

class KernelCopies {
 public:
  // `loops`: with the trips that are executed. All must outlive the object.
  KernelCopies(const loop_nest::LoopNest& nest, const KernelNests& nests,
               const std::vector<WorkLoop>& loops);

  const std::vector<loop_nest::Copy>& all() const { return copies_; }
  // The copy of a node for what varies along these axes; null: it is not packed.
  const loop_nest::Copy* Of(const UOp* node, const AxisSet& axes) const;
  // The strides of a copy's elements, by axis: they are in the order of the loops that read them,
  // lanes innermost.
  std::vector<int64_t> StridesIn(const loop_nest::Copy& copy) const;
  // MemoryAccess::distinct of a load, with these strides, that fills a copy. Each step that reads
  // vectors has its own in the copy.
  double DistinctPart(const loop_nest::Copy& copy, const std::vector<int64_t>& strides) const;
  // MemoryAccess::is_transposed of a load that fills a copy, but for gates: whether its terms make
  // runs of whole squares of a vector's side.
  bool HasAdjacentTerms(const MemoryAccess& load) const;

 private:
  const loop_nest::LoopNest& s_;
  const KernelNests& nests_;
  const std::vector<WorkLoop>& loops_;
  std::vector<loop_nest::Copy> copies_;
};

}  // namespace tg::cost

#endif  // TG_PASSES_COST_KERNEL_COPIES_H_
