// Plan: what the renderer decides before it writes a line: how often each value is used and how far
// down the source its text may end up, and which scratch becomes named variables.
#ifndef TG_CODEGEN_OPENCL_PLAN_H_
#define TG_CODEGEN_OPENCL_PLAN_H_

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "ir/module.h"
#include "llvm/ADT/DenseMap.h"

namespace tg::opencl {

// The part of a register scratch that all accesses to it cover exactly: one variable.
struct Piece {
  std::string name;
  Scalar scalar = Scalar::kVoid;
  int lanes = 1;
  int64_t element = 0;      // its first one in the scratch
  int first = -1;           // position of the first access
  bool declare = true;      // by itself; else by the store at `first`
  std::vector<int> stores;  // positions, ascending
};

class Plan {
 public:
  explicit Plan(const Kernel& kernel);

  // Of nodes of the kernel.
  int position(const UOp* u) const { return places_[u->id].position; }
  int uses(const UOp* u) const { return places_[u->id].uses; }
  // The position of the user of what is used once.
  int user(const UOp* u) const { return places_[u->id].user; }
  // Ranges around a position.
  int depth(int position) const { return depth_[block_[position]]; }

  // The piece that an address in a register scratch is, or null where the scratch is an array.
  const Piece* PieceOf(const UOp* address) const;
  const std::vector<Piece>& PiecesOf(const UOp* scratch) const;
  // Whether the variable still holds what `load`, a load of a piece, read wherever its text may go.
  bool StaysValid(const UOp* load, const Piece& piece) const;

 private:
  struct Place {
    int position = 0, uses = 0, user = 0;
  };

  // A source that is an address in a register scratch.
  struct RegisterUse {
    int user;  // its position
    uint32_t source;
  };

  // Gives back those uses.
  std::vector<RegisterUse> FindUses(const std::vector<const UOp*>& order);
  void FindBlocks(const std::vector<const UOp*>& order);
  void FindLastTexts(const std::vector<const UOp*>& order);
  void FindPieces(const std::vector<const UOp*>& order, std::span<const RegisterUse> uses);
  void DeclareAtStore(const std::vector<const UOp*>& order, Piece& piece,
                      std::span<const int> accesses);

  std::vector<Place> places_;              // by id
  std::vector<int> block_;                 // by position: number of the innermost block
  std::vector<int> parent_, begin_, end_;  // of blocks: loops and ifs
  std::vector<int> depth_;                 // of blocks: ranges around what is in them
  std::vector<int> last_text_;             // by position: where the value's text may stand at last
  llvm::DenseMap<const UOp*, std::vector<Piece>> pieces_;  // by scratch, in order
};

}  // namespace tg::opencl

#endif  // TG_CODEGEN_OPENCL_PLAN_H_
