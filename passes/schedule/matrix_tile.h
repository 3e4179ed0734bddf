// Chooses the tile sizes of a contraction on a GPU that has matrix instructions for it.
#ifndef TG_PASSES_SCHEDULE_MATRIX_TILE_H_
#define TG_PASSES_SCHEDULE_MATRIX_TILE_H_

#include <cstdint>
#include <optional>

#include "ir/matrix/matrix_instruction.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "passes/schedule/gpu_tile.h"
#include "passes/target.h"

namespace tg::schedule {

// A group has row_units x lane_units subgroups. Each computes rows x lanes results, in units of a
// matrix instruction's (16 x 8). The group copies what it reads of `depth` terms at a time to local
// memory: into one buffer or two by turns, or into more that are filled ahead.
struct MatrixTile {
  int64_t rows = 1, lanes = 1;
  int64_t row_units = 1, lane_units = 1;
  int64_t depth = 16;
  int64_t buffers = 1;
  double seconds = 0;

  int64_t GroupRows() const;
  int64_t GroupLanes() const;
  // Whether the copies for a step are made several steps before, asynchronously.
  bool IsAhead() const { return buffers > 2; }
};

// The predicted time, in seconds, of the whole contraction with this tile. The sizes of
// `ContractionSize` are those before padding.
double MatrixTileSeconds(const MatrixTile& tile, const ContractionSize& size,
                         const MatrixInstruction& instruction, const passes::Target& target);

// The tile with the least predicted time; nullopt if none fits. `observer` receives each tile whose
// time is predicted.
std::optional<MatrixTile> BestMatrixTile(
    const ContractionSize& size, const MatrixInstruction& instruction, const passes::Target& target,
    llvm::function_ref<void(const MatrixTile&)> observer = nullptr);

}  // namespace tg::schedule

#endif  // TG_PASSES_SCHEDULE_MATRIX_TILE_H_
