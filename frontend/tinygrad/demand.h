// Demand: which nodes are needed, and as what type. A node has the type that is printed with it;
// weak nodes (constants and extents of newer versions, and extents inside of arguments) have the
// types that their users take them as, possibly several. So have the integers of a lowered kernel
// that are computed from its coordinates and constants: as addresses they are `index`, which never
// overflows (tinygrad's may not either), elsewhere what the text says.
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
  // Of what `roots` reach. Nodes keep their slots until the next Demand is computed. False after an
  // error: an op or a type that is not known.
  bool Compute(const Text& text, std::span<const Node* const> roots, Diagnostics& diags);

  // Those nodes, sources first.
  std::span<const Node* const> nodes() const { return nodes_; }

  bool IsLive(const Node* n) const { return !types_[n->slot].empty(); }
  std::span<const DType> Types(const Node* n) const {
    return {types_[n->slot].data(), types_[n->slot].size()};
  }
  const OpEntry& OpOf(const Node* n) const { return *ops_[n->slot]; }
  ForeignType TypeOf(const Node* n) const { return foreign_[n->slot]; }

  // Whether the node, of a lowered kernel, is memory or an address in it.
  bool IsMemory(const Node* n) const {
    return foreign_[n->slot].type.is_memory() || (n->slot < memory_.size() && memory_[n->slot]);
  }

  // Whether the node's value is needed, not only what it says about extents.
  bool IsData(const Node* n) const { return is_data_[n->slot]; }

  // Whether the nodes are those of a lowered kernel.
  bool is_lowered() const { return is_lowered_; }

  // The type that node `n`, as a `t`, takes its source `i` as.
  DType SourceType(const Node* n, size_t i, DType t) const;

 private:
  void Request(const Node* n, DType t);
  // The type that a weak source of type `source` is taken as, but for its lanes.
  DType WeakSourceType(const Node* n, size_t i, DType t, ForeignType source) const;
  // In lowered kernels of newer versions, whose types are those of elements: what is memory, and
  // types with the lanes that the shapes of tinygrad's nodes have.
  void FindLanes();
  void FindAddresses();
  void Collect(std::span<const Node* const> roots);

  bool is_lowered_ = false;
  std::vector<const Node*> nodes_;
  std::vector<const OpEntry*> ops_;  // by slot, as the following
  std::vector<ForeignType> foreign_;
  std::vector<llvm::SmallVector<DType, 1>> types_;
  std::vector<bool> is_data_;
  std::vector<bool> memory_;  // empty where types say it
};

// CONST Invalid: an undefined value of any type.
bool IsInvalid(const Node* n);

// Of one float, and so of an integer only by way of a conversion: sqrt, log2, recip.
bool IsFloatFunction(Op op);

// The 2^k that shl or shr by k, or `and` with 2^k - 1, multiplies, divides or reduces by.
std::optional<int64_t> PowerOf(Op op, const Node& n);

}  // namespace tg::tinygrad

#endif  // TG_FRONTEND_TINYGRAD_DEMAND_H_
