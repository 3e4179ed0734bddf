#include "passes/schedule/gpu_tile.h"

#include "passes/loop_nest/loop_nest.h"
#include "passes/schedule/best_tiles.h"

namespace tg::schedule {

std::vector<cost::GpuTile> BestGpuTiles(const cost::ContractionSize& size,
                                        const passes::Target& target, size_t most) {
  std::vector<cost::GpuTile> best;
  const int64_t vector = target.mem_width / size.bytes, words = size.bytes / 4;
  // The remaining quarter holds addresses.
  const int64_t registers = target.vector_registers * 3 / 4;
  // The sides of a group, and the terms of a block, are powers of two. A group of the least sides
  // has about half of Target::group_items, one of the greatest sides the most that a group may
  // have.
  const int64_t least = target.least_group_items;
  for (int64_t rows : {vector, 2 * vector}) {
    for (int64_t lanes : {vector, 2 * vector}) {
      const int64_t tile_words = (rows * lanes + rows + lanes) * words;  // sums and factors
      if (tile_words > registers) continue;
      for (int64_t item_rows = least / 2; item_rows <= least; item_rows *= 2) {
        for (int64_t item_lanes = least / 2; item_lanes <= least; item_lanes *= 2) {
          const int64_t items = item_rows * item_lanes;
          if (items > target.MostItems()) continue;
          for (int64_t depth = least / 2; depth <= 2 * least; depth *= 2) {
            cost::GpuTile tile{rows, lanes, item_rows, item_lanes, depth};
            const int64_t copied = (tile.GroupRows() + tile.GroupLanes()) * depth;
            const int64_t bytes =
                copied * size.bytes + 2 * depth * loop_nest::LoopNest::kRowPadding;
            if (bytes > target.local_memory || depth > size.terms) continue;
            const bool ahead = tile_words + copied / items * words <= registers;
            if (2 * bytes <= target.local_memory) {
              tile.copies = ahead ? cost::GpuTile::Copies::kAhead : cost::GpuTile::Copies::kTurns;
            }
            tile.seconds = cost::TimeOfSizes(size, [&](const cost::ContractionSize& s) {
              return cost::GpuTileSeconds(tile, s, target);
            });
            KeepBest(best, tile, most);
          }
        }
      }
    }
  }
  const double without = cost::CachedTileSeconds(size, target);
  if (!best.empty() && cost::GpuTileSeconds(best[0], size, target) >= without) best.clear();
  return best;
}

}  // namespace tg::schedule
