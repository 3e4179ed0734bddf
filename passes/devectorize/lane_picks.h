// Moves shuffles out of the way of arithmetic.
#ifndef TG_PASSES_DEVECTORIZE_LANE_PICKS_H_
#define TG_PASSES_DEVECTORIZE_LANE_PICKS_H_

#include <cstdint>
#include <span>
#include <vector>

#include "ir/uop.h"
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

// For each node of `order` in what order of lanes to compute it: where every use of an elementwise
// node picks other lanes of it, at least a vector of them, each pick is a node of its own over
// picked sources, unless that shuffles more than it saves. No lane is computed twice. Empty where
// all nodes are computed whole. `order`: what a root reaches, sources first.
std::vector<WantedLanes> FindWantedLanes(UOpSpan order, const Target& target);

// Those of `lanes` that `pick` lists.
LanePick Compose(std::span<const int64_t> lanes, const LanePick& pick);

}  // namespace tg

#endif  // TG_PASSES_DEVECTORIZE_LANE_PICKS_H_
