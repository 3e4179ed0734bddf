// Proposes the tile sizes of a contraction on a GPU, for the registers of work-items and the local
// memory of groups.
#ifndef TG_PASSES_SCHEDULE_GPU_TILE_H_
#define TG_PASSES_SCHEDULE_GPU_TILE_H_

#include <cstddef>
#include <vector>

#include "passes/cost/tile_cost.h"

namespace tg::schedule {

// The tiles with the least predicted times, at most `most`, the fastest first. None if a schedule
// without copies to local memory takes less time.
std::vector<cost::GpuTile> BestGpuTiles(const cost::ContractionSize& size,
                                        const passes::Target& target, size_t most);

}  // namespace tg::schedule

#endif  // TG_PASSES_SCHEDULE_GPU_TILE_H_
