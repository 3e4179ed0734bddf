#include "passes/schedule/matrix_tile.h"

#include <algorithm>

#include "base/arithmetic.h"
#include "passes/loop_nest/loop_nest.h"

namespace tg::schedule {
namespace {

constexpr int64_t kRows = loop_nest::MatrixAxes::kRows, kColumns = loop_nest::MatrixAxes::kColumns;

// Of an element of a factor; both are equally wide.
int64_t BytesOf(const MatrixInstruction& instruction) { return ByteSize(instruction.a); }

// Registers of a work-item: the sums, the factors of one step, and addresses.
int64_t Registers(const MatrixTile& tile, const MatrixInstruction& instruction,
                  const passes::Target& target) {
  const int64_t sums = kRows * kColumns / target.subgroup_size * tile.rows * tile.lanes;
  const int64_t factors = (tile.rows * kRows + tile.lanes * kColumns) * instruction.k;
  const int64_t addresses = target.vector_registers / 4;
  return sums + factors * BytesOf(instruction) / 4 / target.subgroup_size + addresses;
}

// Bytes of local memory, with the padding of rows along terms or along results.
int64_t LocalBytes(const MatrixTile& tile, const MatrixInstruction& instruction) {
  int64_t bytes = 0;
  for (const int64_t results : {tile.GroupRows(), tile.GroupLanes()}) {
    bytes += BytesOf(instruction) * results * tile.depth;
    if (tile.IsAhead()) continue;
    bytes += std::max(results, tile.depth) * loop_nest::LoopNest::kRowPadding;
  }
  return tile.buffers * bytes;
}

}  // namespace

int64_t MatrixTile::GroupRows() const { return kRows * rows * row_units; }
int64_t MatrixTile::GroupLanes() const { return kColumns * lanes * lane_units; }

double MatrixTileSeconds(const MatrixTile& tile, const ContractionSize& size,
                         const MatrixInstruction& instruction, const passes::Target& target) {
  const auto bytes = static_cast<double>(BytesOf(instruction));
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
                            target.MatrixOperationsPerSecond(BitWidth(instruction.a));
  // Copies that are not asynchronous pass through registers, and loads take the same path.
  const double passes = tile.IsAhead() ? 1 : 2;
  const double moves = (read + passes * copied) * bytes / target.local_bytes_per_second;
  const double alone = std::max(multiplies, moves);
  // A unit with few work-items does not reach its rates.
  const auto share = [&](int64_t resident) {
    return std::min(1.0, static_cast<double>(resident * items) / target.items_per_unit);
  };
  const int64_t own = CeilDiv(groups, target.compute_units);
  const int64_t fitting =
      std::min(target.unit_registers / (items * Registers(tile, instruction, target)),
               target.unit_local_memory / LocalBytes(tile, instruction));
  const int64_t resident = std::clamp<int64_t>(fitting, 1, own);
  // The steps during which a copy that is made ahead is under way.
  const auto before = static_cast<double>(tile.IsAhead() ? tile.buffers - 1 : 0);
  const double wait = std::max(0.0, target.load_seconds - before * alone / share(1));
  const double step =
      std::max(static_cast<double>(resident) * alone / share(resident), alone / share(1) + wait) +
      target.not_hidden * target.load_seconds;
  const double computes = static_cast<double>(CeilDiv(own, resident) * steps) * step;
  // What one group copies, others have just copied too, so that the last cache has it.
  const double memory = static_cast<double>(groups * steps) * copied * bytes /
                        (target.shared_cache_bytes_per_second * target.compute_units);
  return std::max(computes, memory) + target.not_hidden * std::min(computes, memory);
}

std::optional<MatrixTile> BestMatrixTile(const ContractionSize& size,
                                         const MatrixInstruction& instruction,
                                         const passes::Target& target,
                                         llvm::function_ref<void(const MatrixTile&)> observer) {
  std::optional<MatrixTile> best;
  for (const int64_t rows : {1, 2, 4}) {
    for (const int64_t lanes : {1, 2, 4, 8}) {
      for (const int64_t row_units : {1, 2, 4}) {
        for (const int64_t lane_units : {1, 2, 4}) {
          for (const int64_t depth : {16, 32, 64, 128}) {
            for (const int64_t buffers : {1, 2, 3, 4}) {
              MatrixTile tile{rows, lanes, row_units, lane_units, depth, buffers};
              const int64_t items = row_units * lane_units * target.subgroup_size;
              if (tile.IsAhead() && (!size.in_runs || buffers * depth > size.terms)) continue;
              if (depth < instruction.k || items > target.MostItems() ||
                  LocalBytes(tile, instruction) > target.local_memory ||
                  Registers(tile, instruction, target) > 2 * target.vector_registers) {
                continue;
              }
              // Not if half of the tile, or more, would be padding.
              if (tile.GroupRows() >= 2 * CeilDiv(size.rows, kRows) * kRows ||
                  tile.GroupLanes() >= 2 * CeilDiv(size.lanes, kColumns) * kColumns ||
                  (depth >= size.terms && depth > instruction.k)) {
                continue;
              }
              tile.seconds = TimeOfSizes(size, [&](const ContractionSize& s) {
                return MatrixTileSeconds(tile, s, instruction, target);
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
