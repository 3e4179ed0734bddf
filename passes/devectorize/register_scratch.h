// Splits register scratch into pieces that every access covers either completely or not at all.
#ifndef TG_PASSES_DEVECTORIZE_REGISTER_SCRATCH_H_
#define TG_PASSES_DEVECTORIZE_REGISTER_SCRATCH_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "ir/module.h"
#include "ir/walk.h"
#include "passes/devectorize/lane_index.h"
#include "passes/target.h"

namespace tg::devectorize {

class RegisterScratch {
 public:
  // `order`: the nodes of the body, sources first.
  RegisterScratch(Body& body, UOpSpan order, const Module& module, const passes::Target& target);

  struct Piece {
    int64_t start;
    int lanes;
  };
  // The pieces of the memory of `pointer`; null unless it is register scratch at constant indices.
  const std::vector<Piece>* PiecesOf(const UOp* pointer) const;
  // Whether this register scratch must become private memory.
  bool IsDemoted(const UOp* scratch) const { return demoted_.Contains(scratch); }

 private:
  struct Memory {
    const UOp* scratch = nullptr;
    std::vector<bool> cut;  // [i]: whether a piece begins at element i
    std::vector<Piece> pieces;
  };
  void NoteAccess(const UOp* access, const LaneIndex& index);

  std::vector<Memory> memories_;
  NodeMap<int> of_;  // scratch -> 1 + its position in memories_
  NodeSet demoted_;
};

// The element that a lane of an `index` node addresses, if its position is a constant node.
inline std::optional<int64_t> ConstantElement(const UOp* index, int lane) {
  const UOp* at = index->src(1);
  if (at->op == Op::kVConst) return at->list()[static_cast<size_t>(lane)];
  if (IsConst(at)) return at->word();
  return std::nullopt;
}
// The first element that an `index` node addresses, if its position is a constant, or a vector of
// consecutive constants.
std::optional<int64_t> FirstConsecutive(const UOp* index);
// The value type of a load or store.
DType AccessType(const UOp* access);

}  // namespace tg::devectorize

#endif  // TG_PASSES_DEVECTORIZE_REGISTER_SCRATCH_H_
