// The tiles of the least predicted times.
#ifndef TG_PASSES_SCHEDULE_BEST_TILES_H_
#define TG_PASSES_SCHEDULE_BEST_TILES_H_

#include <cstddef>
#include <vector>

#include "llvm/ADT/STLExtras.h"

namespace tg::schedule {

// Adds a tile to `best`, which is in ascending order of `seconds` and has at most `most` tiles.
template <typename Tile>
void KeepBest(std::vector<Tile>& best, const Tile& tile, size_t most) {
  if (best.size() == most && best.back().seconds <= tile.seconds) return;
  const auto is_faster = [](const Tile& a, const Tile& b) { return a.seconds < b.seconds; };
  best.insert(llvm::upper_bound(best, tile, is_faster), tile);
  if (best.size() > most) best.pop_back();
}

}  // namespace tg::schedule

#endif  // TG_PASSES_SCHEDULE_BEST_TILES_H_
