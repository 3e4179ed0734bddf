// Demand: which nodes are needed, and as which types. Most nodes have the type that is printed with
// them. Weak nodes (constants and extents of newer versions, and extents inside of arguments) have
// the types that their users demand, possibly several. The same holds in a lowered kernel for
// integers that are computed from coordinates and constants: in an address they are `index`, which
// never overflows (tinygrad assumes the same); elsewhere they have the printed type.
#ifndef TG_FRONTEND_TINYGRAD_DEMAND_H_
#define TG_FRONTEND_TINYGRAD_DEMAND_H_

#include <optional>
#include <span>
#include <vector>

#include "frontend/tinygrad/ops.h"
#include "frontend/tinygrad/syntax.h"
#include "ir/text/diagnostic.h"
#include "ir/uop.h"
#include "llvm/ADT/SmallVector.h"

namespace tg::tinygrad {

class Demand {
 public:
  // Computes the demand of everything that `roots` reach. Nodes keep their slots until the next
  // Demand is computed. Returns false after an error: an unknown op or type.
  bool Compute(const Text& text, std::span<const Node* const> roots, Diagnostics& diags);

  // The needed nodes, sources first.
  std::span<const Node* const> nodes() const { return nodes_; }

  bool IsLive(const Node* n) const { return !types_[n->slot].empty(); }
  std::span<const DType> Types(const Node* n) const {
    return {types_[n->slot].data(), types_[n->slot].size()};
  }
  const OpEntry& OpOf(const Node* n) const { return *ops_[n->slot]; }
  ForeignType TypeOf(const Node* n) const { return foreign_[n->slot]; }

  // Whether the node of a lowered kernel is memory or an address.
  bool IsMemory(const Node* n) const {
    return foreign_[n->slot].type.is_memory() || (n->slot < memory_.size() && memory_[n->slot]);
  }

  // Whether the node's value is needed, and not only its extents.
  bool IsData(const Node* n) const { return is_data_[n->slot]; }

  // Whether the nodes belong to a lowered kernel.
  bool is_lowered() const { return is_lowered_; }

  // The type that node `n`, translated as a `t`, demands of its source `i`.
  DType SourceType(const Node* n, size_t i, DType t) const;

 private:
  void Request(const Node* n, DType t);
  // The type that is demanded of a weak source of type `source`, without its lanes.
  DType WeakSourceType(const Node* n, size_t i, DType t, ForeignType source) const;
  // For lowered kernels of newer versions, in which types are element types: finds the nodes that
  // are memory, and derives vector types from the shapes of tinygrad's nodes.
  void FindLanes();
  void FindAddresses();
  void Collect(std::span<const Node* const> roots);

  bool is_lowered_ = false;
  std::vector<const Node*> nodes_;
  std::vector<const OpEntry*> ops_;  // by slot, like the members below
  std::vector<ForeignType> foreign_;
  std::vector<llvm::SmallVector<DType, 1>> types_;
  std::vector<bool> is_data_;
  std::vector<bool> memory_;  // empty if types tell what is memory
};

// Whether the node is CONST Invalid: an undefined value of any type.
bool IsInvalid(const Node* n);

// Whether the op takes one float, and an integer only after a conversion: sqrt, log2, recip.
bool IsFloatFunction(Op op);

// The 2^k of a shl, a shr by k, or an `and` with 2^k - 1, seen as a product, quotient or remainder
// by 2^k.
std::optional<int64_t> PowerOf(Op op, const Node& n);

}  // namespace tg::tinygrad

#endif  // TG_FRONTEND_TINYGRAD_DEMAND_H_
