// Proposes the tile sizes of a contraction on a GPU, for the registers of work-items and the local
// memory of groups.
#ifndef TG_PASSES_SCHEDULE_GPU_TILE_H_
#define TG_PASSES_SCHEDULE_GPU_TILE_H_

#include <optional>

#include "llvm/ADT/STLFunctionalExtras.h"
#include "passes/cost/tile_cost.h"

namespace tg::schedule {

// The tile with the least predicted time. Returns nullopt if a schedule without copies to local
// memory takes less time.
// `observer` receives each tile whose time is predicted.
std::optional<cost::GpuTile> BestGpuTile(
    const cost::ContractionSize& size, const passes::Target& target,
    llvm::function_ref<void(const cost::GpuTile&)> observer = nullptr);

}  // namespace tg::schedule

#endif  // TG_PASSES_SCHEDULE_GPU_TILE_H_
