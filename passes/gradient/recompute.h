// Computing values of the forward computation again for the derivatives, so that they need not be
// retained until then: T. Chen et al., "Training deep nets with sublinear memory cost", 2016.
#ifndef TG_PASSES_GRADIENT_RECOMPUTE_H_
#define TG_PASSES_GRADIENT_RECOMPUTE_H_

#include <algorithm>
#include <cstddef>
#include <vector>

#include "ir/module.h"
#include "ir/uop.h"
#include "ir/walk.h"

namespace tg::gradient {

// Checkpoints divide the computation of values[0] from the inputs into `segments` segments of about
// the same memory. Each is a node that all values of earlier segments that depend on inputs and on
// `wrt` pass through. Has the first `num_retained` of them stored in temporaries: every user of
// such a node, also in the other `values`, reads an assign to a temporary, and `values` are
// replaced. Returns those assigns in order; fewer than were asked for, where the graph has no such
// nodes.
std::vector<const UOp*> KeepCheckpoints(Module& module, Body& body, std::vector<const UOp*>& values,
                                        UOpSpan wrt, size_t segments, size_t num_retained);

// What the derivatives of a reverse sweep read instead of the values of the forward computation.
// Values between two checkpoints are computed again, from the first one, once the gradient of the
// second one is there.
class Recomputation {
 public:
  // `order`: the nodes of the forward computation, sources first. `checkpoints`: of
  // KeepCheckpoints, in order.
  Recomputation(Module& module, Body& body, UOpSpan order, UOpSpan checkpoints);

  // To be called for each node, users first, with its gradient, before the next function. Returns
  // the gradient that is to be used.
  const UOp* Reach(const UOp* u, const UOp* dy);
  // The node that computes `u` again, or `u` itself.
  const UOp* Again(const UOp* u) const { return IsCheckpoint(u) ? u : ValueOf(u); }

 private:
  bool IsCheckpoint(const UOp* u) const {
    return std::find(checkpoints_.begin(), checkpoints_.end(), u) != checkpoints_.end();
  }
  // A checkpoint is read from its temporary.
  const UOp* ValueOf(const UOp* u) const {
    const UOp* copy = copies_.Get(u);
    return copy ? copy : u;
  }
  void CopySegment(size_t number, const UOp* turn);

  Module& module_;
  Body& body_;
  const UOpSpan order_;
  const UOpSpan checkpoints_;
  NodeMap<size_t> position_;  // in `order`
  NodeMap<const UOp*> copies_;
};

}  // namespace tg::gradient

#endif  // TG_PASSES_GRADIENT_RECOMPUTE_H_
