// Target: the description of a device that passes use. A plain struct of the fields in target.def
// with named presets, so that every pass is tested without a device. The module's text names a
// preset or a target file (target_fields.h).
#ifndef TG_PASSES_TARGET_H_
#define TG_PASSES_TARGET_H_

#include <algorithm>
#include <bitset>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "ir/dtype.h"
#include "ir/op.h"

namespace tg::passes {

using FunctionSet = std::bitset<kNumOps>;  // of kMathFunctions
// Along each dimension of a grid, and of a group.
using GroupCounts = int64_t[3];
using ItemCounts = int[3];

struct Target {
  // What each field means is in the table, with its unit and where its value comes from.
#define TG_TARGET_FIELD(type, name, unit, source, least, doc, ...) type name = __VA_ARGS__;
#include "passes/target.def"

  // A row of results, or the terms of a sum, of at least this length may occupy a unit alone.
  static constexpr int64_t kLongRow = 8192;
  // The most work-items that a group gets: 256, although devices allow more, because a GPU's
  // multiprocessor holds only two or three larger groups, too few to compute while one of them
  // waits at a barrier.
  int64_t MostItems() const { return std::min(256, max_group_size); }
  // The same for `groups` groups that each process one row of `row` elements. Up to 1024 items are
  // allowed if each multiprocessor gets at most one group and the rows are long.
  int64_t MostItems(double groups, double row) const {
    const bool alone = groups <= compute_units && row >= static_cast<double>(kLongRow);
    return alone ? std::min(1024, max_group_size) : MostItems();
  }

  // Bytes that a unit fetches at once.
  int64_t FetchedBytes() const { return sector_bytes > 0 ? sector_bytes : cache_line; }

  bool HasVectors() const { return alu_width > 0; }
  // Whether a unit interleaves work-items, so that some compute while others wait. Otherwise it
  // runs one after the other.
  bool HidesWaits() const { return items_per_unit > 1; }

  // Whether there are matrix instructions on halves that the renderer writes.
  bool HasMatrixInstructions() const { return inline_ptx && matrix_flops_per_second > 0; }
  // Whether there are some that four subgroups execute together.
  bool HasWarpgroupInstructions() const {
    return HasMatrixInstructions() && warpgroup_flops_per_second > 0;
  }
  // Whether it has copies to local memory that a work-item does not wait for.
  bool HasAsyncCopies() const { return inline_ptx; }
  // Their rate for factors of `bits` bits.
  double MatrixOperationsPerSecond(size_t bits, bool of_warpgroups = false) const {
    const double of_halves = of_warpgroups ? warpgroup_flops_per_second : matrix_flops_per_second;
    return of_halves * 16 / static_cast<double>(bits);
  }

  // The register budgets above, and the size of one register, in words of 32 bits.
  int64_t MaxAccumulators() const { return accumulator_registers * RegisterWords(); }
  int64_t MaxTile() const { return tile_registers * RegisterWords(); }
  int64_t RegisterWords() const { return std::max(1, alu_width / 4); }
  // The words of 32 bits that one access moves.
  int64_t AccessWords() const { return std::max(1, mem_width / 4); }

  // The latency of a multiply-add in cycles, and the independent sums (vectors) that hide it: those
  // of fma_accumulators without the margin.
  int64_t LatencyCycles() const { return std::max<int64_t>(1, LatencySums() / fma_per_cycle); }
  int64_t LatencySums() const { return std::max(1, fma_accumulators * 2 / 3); }
};

// The cost of an op relative to an addition.
double OpWeight(Op op);

// The functions that can be expanded into arithmetic.
inline constexpr Op kMathFunctions[] = {Op::kExp2, Op::kLog2,  Op::kSin, Op::kPow,
                                        Op::kSqrt, Op::kRecip, Op::kDiv};
// All of them, for Target::own_functions.
FunctionSet AllMathFunctions();

// All presets, the default first.
std::span<const Target> TargetPresets();
// The preset of this name ("" gives the default), or the target in the file of this name if it ends
// in `.target`. An unknown name is an error that lists the presets.
absl::StatusOr<Target> FindTarget(std::string_view name);

// Whether the target has arithmetic in `s`. Loads and stores of a type need no arithmetic in it.
bool ComputesIn(const Target& target, Scalar s);

}  // namespace tg::passes

#endif  // TG_PASSES_TARGET_H_
