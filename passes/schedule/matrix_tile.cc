#include "passes/schedule/matrix_tile.h"

#include <algorithm>

#include "base/arithmetic.h"
#include "passes/loop_nest/loop_nest.h"

namespace tg::schedule {
namespace {

constexpr int64_t kRows = loop_nest::MatrixAxes::kRows, kColumns = loop_nest::MatrixAxes::kColumns;
constexpr int64_t kHalfBytes = 2;

// Registers of a work-item: the sums, the factors of one step, and addresses.
int64_t Registers(const MatrixTile& tile, const passes::Target& target) {
  const int64_t sums = kRows * kColumns / target.subgroup_size * tile.rows * tile.lanes;
  const int64_t halves =
      (tile.rows * kRows + tile.lanes * kColumns) * loop_nest::MatrixAxes::kTerms;
  const int64_t addresses = target.vector_registers / 4;
  return sums + halves / 2 / target.subgroup_size + addresses;
}

// Bytes of local memory, with the padding of rows along terms or along results.
int64_t LocalBytes(const MatrixTile& tile) {
  int64_t bytes = 0;
  for (const int64_t results : {tile.GroupRows(), tile.GroupLanes()}) {
    bytes += kHalfBytes * results * tile.depth;
    bytes += std::max(results, tile.depth) * loop_nest::LoopNest::kRowPadding;
  }
  return tile.buffers * bytes;
}

}  // namespace

int64_t MatrixTile::GroupRows() const { return kRows * rows * row_units; }
int64_t MatrixTile::GroupLanes() const { return kColumns * lanes * lane_units; }

double MatrixTileSeconds(const MatrixTile& tile, const ContractionSize& size,
                         const passes::Target& target) {
  const int64_t units = tile.row_units * tile.lane_units;
  const int64_t items = units * target.subgroup_size;
  const int64_t groups =
      size.batch * CeilDiv(size.rows, tile.GroupRows()) * CeilDiv(size.lanes, tile.GroupLanes());
  const int64_t steps = CeilDiv(size.terms, tile.depth);
  // One group in one step. Its matrix instructions run while others wait for local memory.
  const auto copied = static_cast<double>((tile.GroupRows() + tile.GroupLanes()) * tile.depth);
  const auto read =
      static_cast<double>(units * (kRows * tile.rows + kColumns * tile.lanes) * tile.depth);
  const double multiplies = 2.0 * static_cast<double>(tile.GroupRows() * tile.GroupLanes()) *
                            static_cast<double>(tile.depth) * target.compute_units /
                            target.matrix_flops_per_second;
  const double moves = (read + copied) * kHalfBytes / target.local_bytes_per_second;
  const double alone = std::max(multiplies, moves);
  // A unit with few work-items does not reach its rates.
  const auto share = [&](int64_t resident) {
    return std::min(1.0, static_cast<double>(resident * items) / target.items_per_unit);
  };
  const int64_t own = CeilDiv(groups, target.compute_units);
  const int64_t fitting = std::min(target.unit_registers / (items * Registers(tile, target)),
                                   target.unit_local_memory / LocalBytes(tile));
  const int64_t resident = std::clamp<int64_t>(fitting, 1, own);
  const double step = std::max(static_cast<double>(resident) * alone / share(resident),
                               alone / share(1) + target.load_seconds) +
                      target.not_hidden * target.load_seconds;
  const double computes = static_cast<double>(CeilDiv(own, resident) * steps) * step;
  // What one group copies, others have just copied too, so that the last cache has it.
  const double memory = static_cast<double>(groups * steps) * copied * kHalfBytes /
                        (target.shared_cache_bytes_per_second * target.compute_units);
  return std::max(computes, memory) + target.not_hidden * std::min(computes, memory);
}

std::optional<MatrixTile> BestMatrixTile(const ContractionSize& size, const passes::Target& target,
                                         llvm::function_ref<void(const MatrixTile&)> observer) {
  std::optional<MatrixTile> best;
  for (const int64_t rows : {1, 2, 4}) {
    for (const int64_t lanes : {1, 2, 4, 8}) {
      for (const int64_t row_units : {1, 2, 4}) {
        for (const int64_t lane_units : {1, 2, 4}) {
          for (const int64_t depth : {16, 32, 64, 128}) {
            for (const int64_t buffers : {1, 2}) {
              MatrixTile tile{rows, lanes, row_units, lane_units, depth, buffers};
              const int64_t items = row_units * lane_units * target.subgroup_size;
              if (items > target.MostItems() || LocalBytes(tile) > target.local_memory ||
                  Registers(tile, target) > 2 * target.vector_registers) {
                continue;
              }
              // Not if half of the tile, or more, would be padding.
              if (tile.GroupRows() >= 2 * CeilDiv(size.rows, kRows) * kRows ||
                  tile.GroupLanes() >= 2 * CeilDiv(size.lanes, kColumns) * kColumns ||
                  (depth >= size.terms && depth > loop_nest::MatrixAxes::kTerms)) {
                continue;
              }
              tile.seconds = TimeOfSizes(size, [&](const ContractionSize& s) {
                return MatrixTileSeconds(tile, s, target);
              });
              if (observer) observer(tile);
              if (!best || tile.seconds < best->seconds) best = tile;
            }
          }
        }
      }
    }
  }
  return best;
}

}  // namespace tg::schedule
