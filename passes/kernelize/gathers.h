// Detects sums in which all terms but one are 0, such as a one-hot row times a table. Pass `lower`
// turns such a sum into a single load (passes/simplify/closed_reduce.h), provided that the kernel
// computes the compared index itself. So the planner counts no loop over its terms.
#ifndef TG_PASSES_KERNELIZE_GATHERS_H_
#define TG_PASSES_KERNELIZE_GATHERS_H_

#include <vector>

#include "ir/module.h"
#include "ir/shape.h"
#include "ir/walk.h"

namespace tg::kernelize {

class Gathers {
 public:
  // `ctx`: the graph's context.
  Gathers(const Module& module, const Context& ctx, ShapeMap& shapes)
      : module_(module), ctx_(ctx), shapes_(shapes) {}

  // Whether reduce_axis `u` needs no loop if the elementwise and movement ops below it are computed
  // in place, and no other reduce runs for each of its terms. Reduces below `u` that were not asked
  // for before are taken for such as need a loop.
  bool Is(const UOp* u);
  // Asks for each reduce of `order`, sources first.
  void FindAll(UOpSpan order) {
    for (const UOp* u : order) Is(u);
  }
  // Whether some reduce for which Is() was called needs `u` in its kernel: `u` depends on the index
  // that the sum compares. If its elements were loaded, the sum would need a loop.
  bool MustBeInPlace(const UOp* u) const { return in_place_.Contains(u); }
  // The values that must be stored for reduce_axis `u` to need no loop: other reduces compute them
  // for each of its terms, and so several times. Empty if that would not help, or if none need be.
  std::vector<const UOp*> NeedStored(const UOp* u);

 private:
  // `loaded`: values that are stored.
  bool Find(const UOp* u, const NodeSet& loaded);
  double Elements(const UOp* u) const;

  const Module& module_;
  const Context& ctx_;
  ShapeMap& shapes_;
  NodeSet queried_, found_, in_place_;
};

// Stores what gathers select from where that makes them gathers (NeedStored). The other users read
// it too. Updates `fused` (prepare.h).
void StoreGathered(const Module& module, Body& body, ShapeMap& shapes, NodeSet& fused,
                   UOpSpan order);

}  // namespace tg::kernelize

#endif  // TG_PASSES_KERNELIZE_GATHERS_H_
