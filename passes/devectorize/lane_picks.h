// Chooses the order of lanes in which values are computed, to avoid shuffles between ops.
#ifndef TG_PASSES_DEVECTORIZE_LANE_PICKS_H_
#define TG_PASSES_DEVECTORIZE_LANE_PICKS_H_

#include <cstdint>
#include <span>
#include <vector>

#include "ir/uop.h"
#include "ir/walk.h"
#include "llvm/ADT/SmallVector.h"
#include "passes/target.h"

namespace tg::devectorize {

// A list of lanes of a node, in the order in which a user reads them.
using LanePick = llvm::SmallVector<int64_t, 16>;
inline std::span<const int64_t> Span(const LanePick& p) { return {p.data(), p.size()}; }

// The forms in which a node is computed: all lanes at once (`whole`), or each pick of lanes as a
// separate node. Only a gep, which computes nothing, may need both.
struct WantedLanes {
  std::vector<LanePick> picks;
  bool whole = false;
};

// Finds elementwise nodes of which the uses pick disjoint sets of lanes: slices of at least a
// vector, or at least two lanes that are not consecutive. Each pick then becomes a separate node
// over picked sources, unless that adds more shuffles than it saves. No lane is computed twice.
// `order`: the nodes that a root reaches, sources first.
class LanePicks {
 public:
  LanePicks(UOpSpan order, const passes::Target& target);

  // Whether some node is computed by picks.
  bool any() const { return any_; }
  // The number of the WantedLanes of `u`, from 1 to size() - 1; 0: it has none and is computed
  // whole.
  uint32_t NumberOf(const UOp* u) const { return number_.Get(u); }
  const WantedLanes& operator[](uint32_t number) const { return wanted_[number]; }
  size_t size() const { return wanted_.size(); }

 private:
  void Find(UOpSpan candidates, NodeSet& whole, const passes::Target& target);

  bool any_ = false;
  NodeMap<uint32_t> number_;
  std::vector<WantedLanes> wanted_{1};
};

// The elements of `lanes` at the positions in `pick`.
LanePick Compose(std::span<const int64_t> lanes, const LanePick& pick);

}  // namespace tg::devectorize

#endif  // TG_PASSES_DEVECTORIZE_LANE_PICKS_H_
