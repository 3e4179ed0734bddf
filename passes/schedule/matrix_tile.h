// Proposes the tile sizes of a contraction on a GPU that has matrix instructions for it.
#ifndef TG_PASSES_SCHEDULE_MATRIX_TILE_H_
#define TG_PASSES_SCHEDULE_MATRIX_TILE_H_

#include <optional>

#include "ir/matrix/matrix_instruction.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "passes/cost/tile_cost.h"

namespace tg::schedule {

// The tiles with the least predicted times, at most `most`, the fastest first.
std::vector<cost::MatrixTile> BestMatrixTiles(const cost::ContractionSize& size,
                                              const MatrixInstruction& instruction,
                                              const passes::Target& target, size_t most);

}  // namespace tg::schedule

#endif  // TG_PASSES_SCHEDULE_MATRIX_TILE_H_
