#include "passes/cost/tile_cost.h"

#include <algorithm>
#include <cmath>

#include "base/arithmetic.h"
#include "base/check.h"
#include "passes/cost/scheduled_work.h"
#include "passes/loop_nest/loop_nest.h"

namespace tg::cost {
namespace {

constexpr int64_t kRows = loop_nest::MatrixAxes::kRows, kColumns = loop_nest::MatrixAxes::kColumns;

// Of an element of a factor; both are equally wide.
int64_t BytesOf(const MatrixInstruction& instruction) { return ByteSize(instruction.a); }

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

double CachedTileSeconds(const ContractionSize& size, const passes::Target& target) {
  const double flops = 2.0 * static_cast<double>(size.batch) * static_cast<double>(size.rows) *
                       static_cast<double>(size.lanes) * static_cast<double>(size.terms);
  return flops / (target.cached_rate * target.flops_per_second);
}

int64_t MatrixTile::GroupRows() const { return kRows * rows * row_units * (of_warpgroups ? 4 : 1); }
int64_t MatrixTile::GroupLanes() const { return kColumns * lanes * lane_units; }

int64_t MatrixTile::Registers(const MatrixInstruction& instruction,
                              const passes::Target& target) const {
  const int64_t sums = kRows * kColumns / target.subgroup_size * rows * lanes;
  if (of_warpgroups) return sums + target.vector_registers / 4;
  const int64_t factors = (rows * kRows + lanes * kColumns) * instruction.k;
  const int64_t addresses = target.vector_registers / 4;
  const int64_t words = factors * BytesOf(instruction) / 4 * (instruction.in_parts ? 2 : 1);
  return sums + words / target.subgroup_size + addresses;
}

int64_t MatrixTile::LocalBytes(const MatrixInstruction& instruction) const {
  int64_t bytes = 0;
  for (const int64_t results : {GroupRows(), GroupLanes()}) {
    bytes += BytesOf(instruction) * results * depth;
    if (IsAhead()) continue;
    bytes += std::max(results, depth) * loop_nest::LoopNest::kRowPadding;
  }
  return buffers * bytes;
}

int64_t TupleRegisters(int64_t tiles, int64_t terms, int64_t results, int64_t depth,
                       const MatrixInstruction& instruction, const passes::Target& target) {
  const int64_t of_factors =
      (terms + depth * (instruction.in_parts ? 2 : 1)) * BytesOf(instruction) / 4;
  const int64_t share = tiles * instruction.m * (terms + results + of_factors);
  return share / MatrixInstruction::kSubgroup + target.vector_registers / 4;
}

double MatrixTileSeconds(const MatrixTile& tile, const ContractionSize& size,
                         const MatrixInstruction& instruction, const passes::Target& target) {
  const auto bytes = static_cast<double>(BytesOf(instruction));
  const int64_t units = tile.Subgroups();
  const int64_t items = units * target.subgroup_size;
  const int64_t groups =
      size.batch * CeilDiv(size.rows, tile.GroupRows()) * CeilDiv(size.lanes, tile.GroupLanes());
  const int64_t steps = CeilDiv(size.terms, tile.depth);
  // One group in one step. Its matrix instructions run while others wait for local memory.
  const auto copied = static_cast<double>((tile.GroupRows() + tile.GroupLanes()) * tile.depth);
  // A warpgroup's instructions read the columns once for each of their rows.
  const int64_t own = tile.of_warpgroups ? tile.rows * (kRows + kColumns * tile.lanes / 4)
                                         : kRows * tile.rows + kColumns * tile.lanes;
  const auto read = static_cast<double>(units * own * tile.depth);
  const double multiplies =
      2.0 * static_cast<double>(tile.GroupRows() * tile.GroupLanes()) *
      static_cast<double>(tile.depth) * target.compute_units /
      target.MatrixOperationsPerSecond(instruction.RateBits(), tile.of_warpgroups);
  // The subgroups divide what they have read into parts.
  const double parts = instruction.in_parts ? kPartInstructions * read * 2 * target.compute_units /
                                                  target.flops_per_second
                                            : 0;
  // Copies that are not asynchronous pass through registers, and loads take the same path.
  const double passes = tile.IsAhead() ? 1 : 2;
  const double moves = (read + passes * copied) * bytes / target.local_bytes_per_second;
  const double alone = std::max(multiplies + parts, moves);
  // A unit with few work-items does not reach its rates. Where none waits for its own loads, half
  // as many are enough, since matrix instructions take long.
  const int64_t enough = target.items_per_unit / (tile.IsAhead() ? 2 : 1);
  const auto share = [&](int64_t resident) {
    return std::min(1.0, static_cast<double>(resident * items) / static_cast<double>(enough));
  };
  const int64_t of_unit = CeilDiv(groups, target.compute_units);
  const int64_t fitting =
      std::min(target.unit_registers / (items * tile.Registers(instruction, target)),
               target.unit_local_memory / tile.LocalBytes(instruction));
  const int64_t resident = std::clamp<int64_t>(fitting, 1, of_unit);
  // The steps during which a copy that is made ahead is under way. A step's barriers, its addresses
  // and its first loads from local memory take as long as a load; single elements, longer.
  const auto before = static_cast<double>(tile.IsAhead() ? tile.buffers - 1 : 0);
  const double wait = std::max(0.0, target.load_seconds - before * alone / share(1)) +
                      (size.in_runs ? target.load_seconds : 0);
  const double step =
      std::max(static_cast<double>(resident) * alone / share(resident), alone / share(1) + wait) +
      target.not_hidden * target.load_seconds;
  const double computes = static_cast<double>(CeilDiv(of_unit, resident) * steps) * step;
  // What one group copies, others have just copied too, so that the last cache has it.
  const double memory = static_cast<double>(groups * steps) * copied * bytes /
                        (target.shared_cache_bytes_per_second * target.compute_units);
  return std::max(computes, memory) + target.not_hidden * std::min(computes, memory);
}

}  // namespace tg::cost
