// Chooses the tile sizes of a contraction on a GPU, for the registers of work-items and the local
// memory of groups.
#ifndef TG_PASSES_SCHEDULE_GPU_TILE_H_
#define TG_PASSES_SCHEDULE_GPU_TILE_H_

#include <cstdint>
#include <optional>

#include "llvm/ADT/STLFunctionalExtras.h"
#include "passes/target.h"

namespace tg::schedule {

// The sizes of a contraction: `batch` products of rows x terms by terms x lanes.
struct ContractionSize {
  int64_t batch = 1, rows = 1, lanes = 1, terms = 1;
  int64_t bytes = 4;     // of an element of a sum and of the copies
  bool in_runs = false;  // asynchronous copies can move both operands
  // Of `batch` and of `rows`, the factor that symbolic axes make, at most.
  int64_t symbolic_batch = 1, symbolic_rows = 1;
};

// The time by which tiles are compared: `seconds(size)`; if axes are symbolic, the geometric mean
// of the times for their most steps and for one, so that few steps do not take many times as long
// as with another tile.
double TimeOfSizes(const ContractionSize& size,
                   llvm::function_ref<double(const ContractionSize&)> seconds);

// A group has item_rows x item_lanes work-items, with rows x lanes results each. It copies what it
// reads of `depth` terms at a time.
struct GpuTile {
  // How consecutive blocks of terms use local memory: one buffer that each block overwrites (kOne);
  // two buffers that alternate (kTurns); or two buffers, with the loads of the next block issued
  // before the current one is computed (kAhead).
  enum class Copies { kOne, kTurns, kAhead };

  int64_t rows = 1, lanes = 1;
  int64_t item_rows = 1, item_lanes = 1;
  int64_t depth = 1;
  Copies copies = Copies::kOne;
  double seconds = 0;

  int64_t GroupRows() const { return rows * item_rows; }
  int64_t GroupLanes() const { return lanes * item_lanes; }
};

// The predicted time, in seconds, of the whole contraction with this tile.
double GpuTileSeconds(const GpuTile& tile, const ContractionSize& size,
                      const passes::Target& target);

// The tile with the least predicted time. Returns nullopt if a schedule without copies to local
// memory takes less time.
// `observer` receives each tile whose time is predicted.
std::optional<GpuTile> BestGpuTile(const ContractionSize& size, const passes::Target& target,
                                   llvm::function_ref<void(const GpuTile&)> observer = nullptr);

}  // namespace tg::schedule

#endif  // TG_PASSES_SCHEDULE_GPU_TILE_H_
