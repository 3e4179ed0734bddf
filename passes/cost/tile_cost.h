// What contractions on a GPU cost by their tiles, in the registers of work-items and the local
// memory of groups: a bound by which rules order the tiles that they propose, before there is a
// nest.
#ifndef TG_PASSES_COST_TILE_COST_H_
#define TG_PASSES_COST_TILE_COST_H_

#include <cstdint>

#include "ir/matrix/matrix_instruction.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "passes/target.h"

namespace tg::cost {

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

// The same of the whole contraction by register tiles that read from caches.
double CachedTileSeconds(const ContractionSize& size, const passes::Target& target);

// A group has row_units x lane_units subgroups. Each computes rows x lanes results, in units of a
// matrix instruction's (16 x 8). The group copies what it reads of `depth` terms at a time to local
// memory: into one buffer or two by turns, or into more that are filled ahead.
struct MatrixTile {
  int64_t rows = 1, lanes = 1;
  int64_t row_units = 1, lane_units = 1;
  int64_t depth = 16;
  int64_t buffers = 1;
  // The subgroups come in fours, each a warpgroup of row_units = 1: its instructions have 64 rows,
  // in units of which `rows` counts, and all `lanes` columns.
  bool of_warpgroups = false;
  double seconds = 0;

  int64_t Subgroups() const { return row_units * lane_units * (of_warpgroups ? 4 : 1); }
  int64_t GroupRows() const;
  int64_t GroupLanes() const;
  // A work-item's registers: the sums, the factors of one step, and addresses.
  int64_t Registers(const MatrixInstruction& instruction, const passes::Target& target) const;
  // Of local memory, with the padding of rows along terms or along results.
  int64_t LocalBytes(const MatrixInstruction& instruction) const;
  // Whether the copies for a step are made several steps before, asynchronously.
  bool IsAhead() const { return buffers > 2; }
};

// The predicted time, in seconds, of the whole contraction with this tile. The sizes of
// `ContractionSize` are those before padding.
// Registers of a work-item that has `tiles` tiles of rows of two products (schedule/gpu_tuple.cc):
// scores of `terms` and their exponentials, `results`, and rows of `depth` of the left factor.
int64_t TupleRegisters(int64_t tiles, int64_t terms, int64_t results, int64_t depth,
                       const MatrixInstruction& instruction, const passes::Target& target);

double MatrixTileSeconds(const MatrixTile& tile, const ContractionSize& size,
                         const MatrixInstruction& instruction, const passes::Target& target);

}  // namespace tg::cost

#endif  // TG_PASSES_COST_TILE_COST_H_
