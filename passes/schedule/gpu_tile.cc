#include "passes/schedule/gpu_tile.h"

#include <algorithm>

#include "ir/check.h"
#include "passes/loop_nest/loop_nest.h"

namespace tg {
namespace {

int64_t CeilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }

// Without copies in local memory: the share of peak arithmetic that register tiles reach. In a tile
// of 4 x 4 results each multiply-add needs half a load from a cache.
constexpr double kShareWithoutCopies = 0.45;

// For each block of terms: the seconds in which a group, alone on its multiprocessor, computes
// nothing, because it waits for loads from device memory and then at a barrier.
constexpr double kFillSeconds = 1e-6;

// Part of kFillSeconds that remains when copies of consecutive blocks overlap in this way.
double WaitingShare(GpuTile::Copies copies) {
  switch (copies) {
    case GpuTile::Copies::kOne:
      return 1;
    case GpuTile::Copies::kTurns:
      return 0.5;
    case GpuTile::Copies::kAhead:
      return 0.1;
  }
  TG_UNREACHABLE();
}

// The number of work-items that a multiprocessor can hold if each uses Target::vector_registers
// registers.
constexpr int64_t kResidentItems = 512;

// The cost of reading four bytes of local memory, relative to a multiply-add, if vectors of
// Target::mem_width are read.
double ReadWeight(const Target& target) { return 8.0 / target.mem_width; }

}  // namespace

double GpuTileSeconds(const GpuTile& tile, const ContractionSize& size, const Target& target) {
  const int64_t groups =
      size.batch * CeilDiv(size.rows, tile.GroupRows()) * CeilDiv(size.lanes, tile.GroupLanes());
  const int64_t steps = CeilDiv(size.terms, tile.depth);
  const double unit_flops = target.flops_per_second / target.compute_units;
  const double results = static_cast<double>(tile.GroupRows() * tile.GroupLanes());
  const double reads = static_cast<double>(tile.rows + tile.lanes) * ReadWeight(target) /
                       static_cast<double>(tile.rows * tile.lanes);
  const double compute = 2 * results * static_cast<double>(tile.depth) * (1 + reads) / unit_flops;
  // The groups of one multiprocessor take turns: some compute while others wait for memory.
  const int64_t own = CeilDiv(groups, target.compute_units);
  const int64_t items = tile.item_rows * tile.item_lanes;
  const int64_t resident = std::clamp<int64_t>(kResidentItems / items, 1, own);
  const double fill = kFillSeconds * WaitingShare(tile.copies);
  const double step = std::max(static_cast<double>(resident) * compute, compute + fill);
  const double rounds = static_cast<double>(CeilDiv(own, resident));
  const double memory = static_cast<double>(groups * steps * tile.depth *
                                            (tile.GroupRows() + tile.GroupLanes()) * size.bytes) /
                        target.bytes_per_second;
  const double computes = rounds * static_cast<double>(steps) * step;
  return std::max(computes, memory) + kShareNotHidden * std::min(computes, memory);
}

std::optional<GpuTile> BestGpuTile(const ContractionSize& size, const Target& target,
                                   llvm::function_ref<void(const GpuTile&)> observer) {
  const double flops = 2.0 * static_cast<double>(size.batch) * static_cast<double>(size.rows) *
                       static_cast<double>(size.lanes) * static_cast<double>(size.terms);
  std::optional<GpuTile> best;
  const int64_t vector = target.mem_width / size.bytes, words = size.bytes / 4;
  // The remaining quarter holds addresses.
  const int64_t registers = target.vector_registers * 3 / 4;
  for (int64_t rows : {vector, 2 * vector}) {
    for (int64_t lanes : {vector, 2 * vector}) {
      const int64_t tile_words = (rows * lanes + rows + lanes) * words;  // sums and factors
      if (tile_words > registers) continue;
      for (int64_t item_rows : {8, 16}) {
        for (int64_t item_lanes : {8, 16}) {
          const int64_t items = item_rows * item_lanes;
          if (items > target.MostItems()) continue;
          for (int64_t depth : {8, 16, 32}) {
            GpuTile tile{rows, lanes, item_rows, item_lanes, depth};
            const int64_t copied = (tile.GroupRows() + tile.GroupLanes()) * depth;
            const int64_t bytes = copied * size.bytes + 2 * depth * LoopNest::kRowPadding;
            if (bytes > target.local_memory || depth > size.terms) continue;
            const bool ahead = tile_words + copied / items * words <= registers;
            if (2 * bytes <= target.local_memory) {
              tile.copies = ahead ? GpuTile::Copies::kAhead : GpuTile::Copies::kTurns;
            }
            tile.seconds = GpuTileSeconds(tile, size, target);
            if (observer) observer(tile);
            if (!best || tile.seconds < best->seconds) best = tile;
          }
        }
      }
    }
  }
  const double without = flops / (kShareWithoutCopies * target.flops_per_second);
  return best && best->seconds < without ? best : std::nullopt;
}

}  // namespace tg
