// OpenScopes: the loops and blocks (RANGE, IF) that enclose each node of a lowered kernel.
#ifndef TG_FRONTEND_TINYGRAD_OPEN_SCOPES_H_
#define TG_FRONTEND_TINYGRAD_OPEN_SCOPES_H_

#include <vector>

#include "frontend/tinygrad/demand.h"
#include "llvm/ADT/DenseMap.h"

namespace tg::tinygrad {

// The scopes of a node: those of its sources and, for a RANGE or IF, itself, without the loops that
// the node ends (a REDUCE, or the ASSIGN of an accumulator). A node that uses a STORE inherits none
// of the STORE's scopes.
class OpenScopes {
 public:
  using Scopes = std::vector<const Node*>;  // in the order of the text

  explicit OpenScopes(const Demand& demand);

  const Scopes& Of(const Node* n) const { return open_[n->slot]; }
  // The ASSIGN of a DEFINE_ACC, or null.
  const Node* AssignOf(const Node* acc) const { return assign_.lookup(acc); }

 private:
  std::vector<Scopes> open_;  // by slot
  llvm::DenseMap<const Node*, const Node*> assign_;
};

}  // namespace tg::tinygrad

#endif  // TG_FRONTEND_TINYGRAD_OPEN_SCOPES_H_
