// Plan: decisions that the renderer makes before it writes a line: the number of uses of each
// value, the last position at which its text may appear, and the scratch that becomes named
// variables.
#ifndef TG_CODEGEN_CLIKE_RENDER_PLAN_H_
#define TG_CODEGEN_CLIKE_RENDER_PLAN_H_

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "ir/module.h"
#include "llvm/ADT/DenseMap.h"

namespace tg::clike {

// A part of a register scratch that every access to it covers exactly. It becomes one variable.
struct Piece {
  std::string name;
  Scalar scalar = Scalar::kVoid;
  int lanes = 1;
  int64_t element = 0;      // its first element in the scratch
  int first = -1;           // position of the first access
  int last = -1;            // last position of an access or of a loaded value's text
  bool declare = true;      // declared separately; else by the store at `first`
  std::vector<int> stores;  // positions in ascending order
};

class Plan {
 public:
  explicit Plan(const Kernel& kernel);

  // Returns a node's position in the kernel's linear list.
  int position(const UOp* u) const { return places_[u->id].position; }
  int uses(const UOp* u) const { return places_[u->id].uses; }
  // Returns the position of the single user of a value that is used once.
  int user(const UOp* u) const { return places_[u->id].user; }
  // Returns the number of loops around a position.
  int depth(int position) const { return depth_[block_[position]]; }

  // Returns the last position at which the text of the node at `position` may appear.
  int last_text(int position) const { return last_text_[position]; }

  // Returns the piece that an address in a register scratch denotes, or null if the scratch is an
  // array.
  // `further`: the piece that many elements behind the address.
  const Piece* PieceOf(const UOp* address, int64_t further = 0) const;
  const std::vector<Piece>& PiecesOf(const UOp* scratch) const;
  // Returns whether the variable of `piece` holds the value that `load` read, at every position
  // where the load's text may appear.
  bool StaysValid(const UOp* load, const Piece& piece) const;

 private:
  struct Place {
    int position = 0, uses = 0, user = 0;
  };

  // An operand that is an address in a register scratch.
  struct RegisterUse {
    int user;  // position of the user
    uint32_t source;
  };

  // Returns the uses of register scratch.
  std::vector<RegisterUse> FindUses(const std::vector<const UOp*>& order);
  void FindBlocks(const std::vector<const UOp*>& order);
  void FindLastTexts(const std::vector<const UOp*>& order);
  void FindPieces(const std::vector<const UOp*>& order, std::span<const RegisterUse> uses);
  void DeclareAtStore(const std::vector<const UOp*>& order, Piece& piece,
                      std::span<const int> accesses);

  std::vector<Place> places_;              // by node id
  std::vector<int> block_;                 // by position: number of the innermost block
  std::vector<int> parent_, begin_, end_;  // by block, a loop or an if
  std::vector<int> depth_;                 // by block: number of loops around its contents
  std::vector<int> last_text_;             // by position: last position of the value's text
  llvm::DenseMap<const UOp*, std::vector<Piece>> pieces_;  // by scratch, in order
};

}  // namespace tg::clike

#endif  // TG_CODEGEN_CLIKE_RENDER_PLAN_H_
