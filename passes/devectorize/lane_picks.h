// Moves shuffles out of the way of arithmetic.
#ifndef TG_PASSES_DEVECTORIZE_LANE_PICKS_H_
#define TG_PASSES_DEVECTORIZE_LANE_PICKS_H_

#include <cstdint>
#include <span>
#include <vector>

#include "ir/uop.h"
#include "ir/walk.h"
#include "llvm/ADT/SmallVector.h"
#include "passes/target.h"

namespace tg {

// Lanes of a node, in the order in which somebody wants them.
using LanePick = llvm::SmallVector<int64_t, 16>;
inline std::span<const int64_t> Span(const LanePick& p) { return {p.data(), p.size()}; }

// What a node is to be computed as: all its lanes, or each pick of them by itself. Of a gep, which
// computes nothing, both may be wanted.
struct WantedLanes {
  std::vector<LanePick> picks;
  bool whole = false;
};

// In what order of lanes to compute nodes: where every use of an elementwise node picks other lanes
// of it, at least a vector of them, each pick is a node of its own over picked sources, unless that
// shuffles more than it saves. No lane is computed twice. `order`: what a root reaches, sources
// first.
class LanePicks {
 public:
  LanePicks(UOpSpan order, const Target& target);

  // Whether there is anything but nodes that are computed whole.
  bool any() const { return any_; }
  // What is wanted of `u`, with a number from 1 to size() - 1; 0: the whole of it.
  uint32_t NumberOf(const UOp* u) const { return number_.Get(u); }
  const WantedLanes& operator[](uint32_t number) const { return wanted_[number]; }
  size_t size() const { return wanted_.size(); }

 private:
  void Find(UOpSpan candidates, NodeSet& whole, const Target& target);

  bool any_ = false;
  NodeMap<uint32_t> number_;
  std::vector<WantedLanes> wanted_{1};
};

// Those of `lanes` that `pick` lists.
LanePick Compose(std::span<const int64_t> lanes, const LanePick& pick);

}  // namespace tg

#endif  // TG_PASSES_DEVECTORIZE_LANE_PICKS_H_
