// LaneIndex: describes every lane of the indices and gates of accesses: a lane of an index as an
// AffineExpr, a lane of a gate as a scalar node in canonical form.
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
#include "passes/devectorize/affine_builder.h"

namespace tg::devectorize {

class LaneIndex {
 public:
  // Covers the operands of the `index` nodes of `order`, or of the ones that `which` accepts.
  // `order` has sources first.
  LaneIndex(Builder& b, const Module& module, UOpSpan order,
            llvm::function_ref<bool(const UOp*)> which = nullptr);

  // To be called for every node, sources first; `now` is the node's replacement.
  void Visit(const UOp* u, const UOp* now);

  // Lane `lane` of a visited node that is an index operand of a covered `index` node, or from which
  // one is computed. Any lane if the lanes are equal.
  const AffineExpr& At(const UOp* u, int lane) const;
  // The same for an index whose lanes differ by constants only: lane i is BaseOf + OffsetsOf[i].
  // Empty offsets: the lanes are equal, their differences may not be constant, or At has been
  // called for this node.
  const AffineExpr& BaseOf(const UOp* u) const { return FormsOf(u).index[0]; }
  std::span<const int64_t> OffsetsOf(const UOp* u) const { return FormsOf(u).offsets; }
  // As At, for a gate.
  const UOp* GateAt(const UOp* u, int lane) const;

  AffineBuilder& linear() { return linear_; }

 private:
  // One entry per lane, or one for all lanes. While `offsets` is not empty, `index` has one entry,
  // to which the offset of each lane is added; At replaces this by one entry per lane.
  struct Forms {
    mutable llvm::SmallVector<AffineExpr, 1> index;
    mutable std::vector<int64_t> offsets;
    llvm::SmallVector<const UOp*, 1> gate;
  };
  const Forms& FormsOf(const UOp* u) const { return forms_[static_cast<size_t>(of_.Get(u))]; }
  // Finds the form of index `u` as a base with offsets. False if it has none; then each lane has to
  // be analysed separately.
  bool FindOffsets(const UOp* u, Forms& forms);
  // The form of a sum, difference or product with a constant, from the forms of its sources;
  // nullopt for others.
  std::optional<AffineExpr> Sum(Op op, llvm::function_ref<const AffineExpr&(size_t)> src) const;
  bool IsUniform(const UOp* u) const;
  // The scalar node of a lane of a source, whether index, gate or neither.
  const UOp* ScalarAt(const UOp* u, int lane);
  AffineExpr IndexLane(const UOp* u, const UOp* now, int lane);
  const UOp* GateLane(const UOp* u, const UOp* now, int lane);
  const UOp* OpaqueLane(const UOp* u, const UOp* now, int lane);

  Builder& b_;
  AffineBuilder linear_;
  NodeSet wanted_;
  NodeMap<int> of_;  // into forms_; 0: none
  std::vector<Forms> forms_{1};
};

}  // namespace tg::devectorize

#endif  // TG_PASSES_DEVECTORIZE_LANE_INDEX_H_
