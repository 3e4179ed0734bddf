// Proposes the tile sizes of a contraction on a GPU that has matrix instructions for it.
#ifndef TG_PASSES_SCHEDULE_MATRIX_TILE_H_
#define TG_PASSES_SCHEDULE_MATRIX_TILE_H_

#include <optional>

#include "ir/matrix/matrix_instruction.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "passes/cost/tile_cost.h"

namespace tg::schedule {

// The tile with the least predicted time; nullopt if none fits. `observer` receives each tile whose
// time is predicted.
std::optional<cost::MatrixTile> BestMatrixTile(
    const cost::ContractionSize& size, const MatrixInstruction& instruction,
    const passes::Target& target,
    llvm::function_ref<void(const cost::MatrixTile&)> observer = nullptr);

}  // namespace tg::schedule

#endif  // TG_PASSES_SCHEDULE_MATRIX_TILE_H_
