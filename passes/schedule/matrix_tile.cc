#include "passes/schedule/matrix_tile.h"

#include "base/arithmetic.h"
#include "passes/loop_nest/loop_nest.h"
#include "passes/schedule/best_tiles.h"

namespace tg::schedule {
namespace {

constexpr int64_t kRows = loop_nest::MatrixAxes::kRows, kColumns = loop_nest::MatrixAxes::kColumns;

}  // namespace

std::vector<cost::MatrixTile> BestMatrixTiles(const cost::ContractionSize& size,
                                              const MatrixInstruction& instruction,
                                              const passes::Target& target, size_t most) {
  std::vector<cost::MatrixTile> best;
  const auto consider = [&](cost::MatrixTile tile) {
    const int64_t items = tile.Subgroups() * target.subgroup_size;
    if (tile.IsAhead() && (!size.in_runs || tile.buffers * tile.depth > size.terms)) return;
    if (tile.depth < instruction.k || items > target.MostItems() ||
        tile.LocalBytes(instruction) > target.local_memory ||
        tile.Registers(instruction, target) > 2 * target.vector_registers) {
      return;
    }
    // Not if half of the tile, or more, would be padding.
    if (tile.GroupRows() >= 2 * CeilDiv(size.rows, kRows) * kRows ||
        tile.GroupLanes() >= 2 * CeilDiv(size.lanes, kColumns) * kColumns ||
        (tile.depth >= size.terms && tile.depth > instruction.k)) {
      return;
    }
    tile.seconds = cost::TimeOfSizes(size, [&](const cost::ContractionSize& s) {
      return cost::MatrixTileSeconds(tile, s, instruction, target);
    });
    KeepBest(best, tile, most);
  };
  for (const int64_t depth : {16, 32, 64, 128}) {
    for (const int64_t buffers : {1, 2, 3, 4}) {
      for (const int64_t rows : {1, 2, 4}) {
        if (instruction.is_warpgroup) {
          // Its factors are copies that are made ahead, in rows of at most 128 bytes.
          const FactorLayout along_terms = {depth};
          if (buffers < 3 || !along_terms.IsOf(instruction.a)) continue;
          for (const int64_t lanes : {8, 16, 32}) {
            for (const int64_t units : {1, 2}) {
              consider({rows, lanes, 1, units, depth, buffers, true});
            }
          }
          continue;
        }
        for (const int64_t lanes : {1, 2, 4, 8}) {
          for (const int64_t row_units : {1, 2, 4}) {
            for (const int64_t lane_units : {1, 2, 4}) {
              consider({rows, lanes, row_units, lane_units, depth, buffers});
            }
          }
        }
      }
    }
  }
  return best;
}

}  // namespace tg::schedule
