// Packing on a CPU: operands whose elements for the lanes of a vector lie apart are copied, once
// for each group, into memory of its own where they are side by side (Goto and van de Geijn,
// "Anatomy of High-Performance Matrix Multiplication", 2008). LaneCosts::Packs says which are.
#ifndef TG_PASSES_OPTIMIZE_PACKING_H_
#define TG_PASSES_OPTIMIZE_PACKING_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "passes/optimize/blocks.h"
#include "passes/optimize/heuristic.h"

namespace tg {

// Makes loops of the axes along which the tuner's packed loads stay the same, so that a group
// copies them once, but for a part where there would be too few groups. `own`: what stores are to
// have for themselves.
void LoopOverPacked(Tuner& t, Own own = Own::kAny);

// A load that sums which a kernel keeps for each of its rows have their terms of, each sum others,
// which lie in a row of memory: the keys of attention. With terms in the lanes of vectors each sum
// has its lanes to add up, which takes as long as some vectors of products do; so the sums get the
// lanes, and the group a copy in which what the sums of a vector read lies side by side.
struct PackedRows {
  const UOp* load = nullptr;
  int64_t sums = 0;    // for each row
  int64_t stride = 0;  // elements from one sum's terms to the next one's
  int64_t lanes = 1;
};
// Of a kernel for which nothing is chosen yet; nullopt where none is worth it.
std::optional<PackedRows> FindPackedRows(const Tuner& t);

// Loops over the rows for which something that is kept is the same, so that a group makes it once;
// but for a part of them where there would be too few groups. False: there is no such axis.
bool LoopOverKept(Tuner& t, LoopSet shared);

// Whether what so many loads keep, with the lanes of `schedule`, is as much as they are packed for:
// an axis that the lanes are only a part of is kept whole.
bool HasRoomForPacked(const Schedule& schedule, size_t loads, const Target& target);

}  // namespace tg

#endif  // TG_PASSES_OPTIMIZE_PACKING_H_
