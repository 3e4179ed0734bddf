#include "passes/schedule/gpu_tile.h"

#include <algorithm>
#include <cmath>

#include "base/arithmetic.h"
#include "base/check.h"
#include "passes/loop_nest/loop_nest.h"

namespace tg::schedule {
namespace {

// Part of Target::fill_seconds that remains when copies of consecutive blocks overlap in this way.
double WaitingShare(GpuTile::Copies copies) {
  switch (copies) {
    case GpuTile::Copies::kOne:
      return 1;
    case GpuTile::Copies::kTurns:
      return 1.0 / 2;
    case GpuTile::Copies::kAhead:
      return 0.1;  // the barrier, and the loads of the first block
  }
  TG_UNREACHABLE();
}

// The cost of reading four bytes of local memory, relative to a multiply-add, if vectors of
// Target::mem_width are read.
double ReadWeight(const passes::Target& target) {
  return target.load_weight / static_cast<double>(target.AccessWords());
}

}  // namespace

double TimeOfSizes(const ContractionSize& size,
                   llvm::function_ref<double(const ContractionSize&)> seconds) {
  if (size.symbolic_batch == 1 && size.symbolic_rows == 1) return seconds(size);
  ContractionSize least = size;
  least.batch /= size.symbolic_batch;
  least.rows /= size.symbolic_rows;
  return std::sqrt(seconds(size) * seconds(least));
}

double GpuTileSeconds(const GpuTile& tile, const ContractionSize& size,
                      const passes::Target& target) {
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
  // A multiprocessor holds twice the work-items that hide waits, with all registers in use.
  const int64_t resident = std::clamp<int64_t>(2 * int64_t{target.items_per_unit} / items, 1, own);
  const double fill = target.fill_seconds * WaitingShare(tile.copies);
  const double step = std::max(static_cast<double>(resident) * compute, compute + fill);
  const double rounds = static_cast<double>(CeilDiv(own, resident));
  const double memory = static_cast<double>(groups * steps * tile.depth *
                                            (tile.GroupRows() + tile.GroupLanes()) * size.bytes) /
                        target.bytes_per_second;
  const double computes = rounds * static_cast<double>(steps) * step;
  return std::max(computes, memory) + target.not_hidden * std::min(computes, memory);
}

std::optional<GpuTile> BestGpuTile(const ContractionSize& size, const passes::Target& target,
                                   llvm::function_ref<void(const GpuTile&)> observer) {
  const double flops = 2.0 * static_cast<double>(size.batch) * static_cast<double>(size.rows) *
                       static_cast<double>(size.lanes) * static_cast<double>(size.terms);
  std::optional<GpuTile> best;
  const int64_t vector = target.mem_width / size.bytes, words = size.bytes / 4;
  // The remaining quarter holds addresses.
  const int64_t registers = target.vector_registers * 3 / 4;
  // The sides of a group, and the terms of a block, are powers of two. A group of the least sides
  // has about half of Target::group_items, one of the greatest sides the most that a group may
  // have.
  const int64_t least = target.least_group_items;
  for (int64_t rows : {vector, 2 * vector}) {
    for (int64_t lanes : {vector, 2 * vector}) {
      const int64_t tile_words = (rows * lanes + rows + lanes) * words;  // sums and factors
      if (tile_words > registers) continue;
      for (int64_t item_rows = least / 2; item_rows <= least; item_rows *= 2) {
        for (int64_t item_lanes = least / 2; item_lanes <= least; item_lanes *= 2) {
          const int64_t items = item_rows * item_lanes;
          if (items > target.MostItems()) continue;
          for (int64_t depth = least / 2; depth <= 2 * least; depth *= 2) {
            GpuTile tile{rows, lanes, item_rows, item_lanes, depth};
            const int64_t copied = (tile.GroupRows() + tile.GroupLanes()) * depth;
            const int64_t bytes =
                copied * size.bytes + 2 * depth * loop_nest::LoopNest::kRowPadding;
            if (bytes > target.local_memory || depth > size.terms) continue;
            const bool ahead = tile_words + copied / items * words <= registers;
            if (2 * bytes <= target.local_memory) {
              tile.copies = ahead ? GpuTile::Copies::kAhead : GpuTile::Copies::kTurns;
            }
            tile.seconds = TimeOfSizes(
                size, [&](const ContractionSize& s) { return GpuTileSeconds(tile, s, target); });
            if (observer) observer(tile);
            if (!best || tile.seconds < best->seconds) best = tile;
          }
        }
      }
    }
  }
  const double without = flops / (target.cached_rate * target.flops_per_second);
  return best && GpuTileSeconds(*best, size, target) < without ? best : std::nullopt;
}

}  // namespace tg::schedule
