// Steps of a kernel's loops that are computed twice, because blocks of an axis overlap.
#ifndef TG_RUNTIME_PLAN_NEEDED_SHARES_H_
#define TG_RUNTIME_PLAN_NEEDED_SHARES_H_

#include "ir/module.h"
#include "ir/walk.h"

namespace tg::runtime {

struct NeededShares {
  double of_items = 1;       // of the work-items
  NodeMap<double> of_steps;  // by `range`: of its steps; 0: of all
  double Of(const UOp* range) const {
    const double share = of_steps.Get(range);
    return share == 0 ? 1 : share;
  }
};

// The shares for a kernel at stage linear. An axis of n elements in blocks of N has the address
// min(k * N, n - N) + i (the directive `overlap`): of all steps of k, n / (steps * N) are needed.
// `addresses`: the nodes from which addresses are computed. Axes of symbolic size count as needed.
NeededShares FindNeededShares(const Kernel& kernel, const NodeSet& addresses);

}  // namespace tg::runtime

#endif  // TG_RUNTIME_PLAN_NEEDED_SHARES_H_
