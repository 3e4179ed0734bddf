// LaneIndex: for every lane of the indices and gates that accesses use, what that lane is: an index
// as a linear form, a gate as a scalar node in a canonical shape.
#ifndef TG_PASSES_DEVECTORIZE_LANE_INDEX_H_
#define TG_PASSES_DEVECTORIZE_LANE_INDEX_H_

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "ir/builder.h"
#include "ir/module.h"
#include "ir/walk.h"
#include "llvm/ADT/STLExtras.h"
#include "passes/devectorize/linear.h"

namespace tg {

class LaneIndex {
 public:
  // Considers what the `index` nodes of `order` use, sources first, or those that `which` accepts.
  LaneIndex(Builder& b, const Module& module, UOpSpan order,
            llvm::function_ref<bool(const UOp*)> which = nullptr);

  // To be called for every node, sources first; `now` is what the node has become.
  void Visit(const UOp* u, const UOp* now);

  // Of a node that has been visited and that an `index` uses.
  const Linear& At(const UOp* u, int lane) const;
  // The same for an index whose lanes differ by numbers only: lane i is BaseOf + OffsetsOf[i]. No
  // offsets: they may differ by more, or not at all.
  const Linear& BaseOf(const UOp* u) const { return FormsOf(u).index[0]; }
  std::span<const int64_t> OffsetsOf(const UOp* u) const { return FormsOf(u).offsets; }
  const UOp* GateAt(const UOp* u, int lane) const;

  LinearBuilder& linear() { return linear_; }

 private:
  // One entry a lane, or one for all of them; one and what each lane adds to it, until somebody
  // asks for a lane.
  struct Forms {
    mutable llvm::SmallVector<Linear, 1> index;
    mutable std::vector<int64_t> offsets;
    llvm::SmallVector<const UOp*, 1> gate;
  };
  const Forms& FormsOf(const UOp* u) const { return forms_[static_cast<size_t>(of_.Get(u))]; }
  // The form of index `u` as a base with offsets; false: its lanes have to be looked at.
  bool FindOffsets(const UOp* u, Forms& forms);
  // What a sum, a difference or a multiple makes of the forms of its sources; nullopt: `op` is
  // none.
  std::optional<Linear> Sum(Op op, llvm::function_ref<const Linear&(size_t)> src) const;
  bool IsUniform(const UOp* u) const;
  // The scalar node of a lane of a source, whether index, gate or neither.
  const UOp* ScalarAt(const UOp* u, int lane);
  Linear IndexLane(const UOp* u, const UOp* now, int lane);
  const UOp* GateLane(const UOp* u, const UOp* now, int lane);
  const UOp* OpaqueLane(const UOp* u, const UOp* now, int lane);

  Builder& b_;
  LinearBuilder linear_;
  NodeSet wanted_;
  NodeMap<int> of_;  // into forms_; 0: none
  std::vector<Forms> forms_{1};
};

}  // namespace tg

#endif  // TG_PASSES_DEVECTORIZE_LANE_INDEX_H_
