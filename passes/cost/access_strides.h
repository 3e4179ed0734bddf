// The distances between the addresses of an access in consecutive steps of a schedule's loops.
#ifndef TG_PASSES_COST_ACCESS_STRIDES_H_
#define TG_PASSES_COST_ACCESS_STRIDES_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "ir/walk.h"
#include "passes/analysis/accesses.h"
#include "passes/cost/kernel_nests.h"
#include "passes/loop_nest/loop_nest.h"

namespace tg::cost {

class AccessStrides {
 public:
  // `closed`: as in WorkOf. `nest` and `nests` must outlive the object.
  AccessStrides(const loop_nest::LoopNest& nest, const KernelNests& nests, const NodeSet& closed);

  // MemoryAccess::strides.
  std::vector<int64_t> Of(const analysis::Access& access) const;
  // MemoryAccess::quotients. An axis that occurs in another way than in sums, quotients and
  // remainders is one of a window's, and counts as its three parts.
  static double QuotientsOf(const analysis::Access& access);
  // Whether an axis of the schedule is of a reduce that needs no loop.
  bool IsClosed(size_t axis) const { return closed_.test(static_cast<unsigned>(axis)); }

 private:
  // Whether the steps of a vector may begin anywhere in the period of a quotient or remainder, as
  // those do of which the last ones overlap: the lanes' addresses are computed one by one.
  bool CrossesPeriods(const analysis::Access& access, size_t axis) const;

  const loop_nest::LoopNest& s_;
  const KernelNests& nests_;
  AxisSet closed_;
  std::vector<int64_t> in_axis_;  // by axis: its stride as a digit of its base axis
};

}  // namespace tg::cost

#endif  // TG_PASSES_COST_ACCESS_STRIDES_H_
