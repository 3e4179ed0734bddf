// Target: the description of a device that passes use. A plain struct of capabilities with named
// presets, so that every pass is tested without a device. The module's text names a preset or a
// target file (target_fields.h).
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

struct Target {
  std::string name;
  std::string doc;
  bool is_gpu = false;

  // ---- Types that the device computes in. Devectorize rewrites arithmetic in float types that are
  // missing here. Every device can store half. `images`: buffers may be images.
  bool fp16 = false;
  bool fp64 = true;
  bool int64 = true;
  bool images = false;

  // ---- Functions of kMathFunctions that devectorize expands into arithmetic, because the device's
  // versions are slower, or less accurate than ir/accuracy.def requires.
  std::bitset<kNumOps> own_functions;

  // ---- Vector widths in bytes: of arithmetic (0: scalars only) and of one memory access.
  int alu_width = 0;
  int mem_width = 16;
  // A vector access must be aligned only to its element's size, not to the size of the vector.
  bool unaligned_access = false;
  bool fast_fma = true;  // a*b + c in one instruction
  // dot4 is one instruction (of AVX-512 VNNI, AVX-VNNI, PTX).
  bool byte_dots = false;

  // ---- Work-groups
  bool has_local = true;             // local memory and barriers work
  int64_t local_memory = 32768;      // bytes a group
  int64_t private_memory = 1 << 16;  // bytes a work-item that kernels may use for scratch
  int max_group_size = 256;
  int64_t max_groups[3] = {1LL << 31, 65535, 65535};
  int max_local[3] = {256, 256, 64};
  int subgroup_size = 1;
  // Work-items of a group where there is enough work, and the least for which a group is worth its
  // barriers.
  int64_t group_items = 128, least_group_items = 16;
  // The device's compiler takes inline PTX, by which the renderer writes matrix instructions,
  // shuffles and asynchronous copies.
  bool inline_ptx = false;

  // ---- For heuristics and cost models
  int compute_units = 2;
  int vector_registers = 32;  // vectors of alu_width (or scalars on a GPU) that stay in registers
  // How many of these registers accumulators may take: those of a loop in general, and those of a
  // register tile, whose operands need fewer because each load serves a whole row or column.
  int accumulator_registers = 16, tile_registers = 24;
  int cache_line = 64;        // bytes
  int64_t page_bytes = 4096;  // the smallest page of memory, at whose end prefetchers stop
  // The cost of a cache miss that no prefetcher foresees, as the number of contiguous bytes that a
  // core reads in the same time: the latency of memory times a core's bandwidth.
  int64_t miss_bytes = 512;
  // Runs of contiguous lines, in different pages, that a core's prefetcher follows at a time.
  int prefetch_streams = 32;
  // L1 data cache of a CPU core; 0: the L1 cache is the one of core_cache_bytes.
  int64_t near_cache_bytes = 32 << 10;
  int64_t near_cache_ways = 8;  // its associativity
  // Cycles of a load that misses the L1 but not the L2 cache of a CPU core, beyond those of a hit.
  int near_miss_cycles = 15;
  int64_t core_cache_bytes = 1 << 20;  // private L2 cache of a CPU core
  int64_t cache_bytes = 2 << 20;  // last cache whose data a core or multiprocessor rereads cheaply
  // The number of independent accumulators (vectors) that a core needs to do multiply-adds at its
  // full rate: 1.5 times the latency of the instruction times the number that begin per cycle. The
  // factor is a margin, since the instructions do not begin at even distances.
  int fma_accumulators = 12;
  // The number of vector multiply-adds that can begin in a cycle. As many loads can begin in a
  // cycle, but only one store.
  int fma_per_cycle = 2;
  // Work that is large enough is divided into this number of work-groups per compute unit.
  int64_t groups_per_unit = 4;
  // Work-groups of a core: with more than `most_groups`, each gets several results, by which at
  // least `least_groups` are left, so that cores finish at about the same time.
  int64_t least_groups = 32, most_groups = 128;
  // Work-items of a kernel that is too small to fill a GPU: one with fewer gets no register tiles,
  // and one with at most twice as many shares its reduces among the work-items of a group.
  int64_t small_grid = 1024;
  // Iterations of a loop for each work-item that shares it. With fewer, combining the partial
  // results costs more than it saves.
  int64_t least_steps = 8;
  // Rows, and columns, of results that a work-item computes together, so that they share loads.
  int64_t tile_side = 4;
  // A reduce of at most this many terms is written out, and computed again instead of shared.
  int64_t short_terms = 4;
  // A loop of at most this many iterations is written out where that makes predicates constants or
  // spares work-items a share of it: the side of the largest window of a common convolution.
  int64_t window = 7;
  // What padding may add to an axis, as a part of it.
  double padding = 1.0 / 16;
  // Data of up to the size of a cache stay in it. Of data of this times that size nothing does.
  double cache_slack = 1.5;
  int64_t copied_bytes = 16;  // contiguous bytes read in the time of one distant element
  int64_t shared_cache_bytes = 32 << 20;  // the last cache before memory, which all units share
  double bytes_per_second = 5e10;         // of memory, all units together
  double flops_per_second = 5e11;
  double launch_seconds = 5e-6;  // fixed overhead of a kernel launch
  // The rates of multiply-adds of halves, doubles and integers of 32 bits, as fractions of the rate
  // for floats.
  double f16_rate = 1, f64_rate = 0.5, int_rate = 1;
  // The rate of dot4, in words, as a fraction of the rate of multiply-adds of floats. 0: the device
  // multiplies the bytes of a dot4 one by one, so that no product is made of such ops.
  double dot4_rate = 0;
  // Multiply-adds that could begin in the time in which one load, or one store, begins.
  double load_weight = 1, store_weight = 2;
  // Instructions of a lane that is accessed alone: the access, and the move of the element.
  double lane_instructions = 2;
  // Instructions of an iteration of a loop over terms, without the terms: its branch and addresses,
  // and the wait for a cache line.
  double step_instructions = 6;
  // Aligned vector accesses in the time of one that is not aligned.
  double unaligned_weight = 1.5;
  // Additions in the time of a load with a gate, which is no vector load.
  double gate_weight = 16;
  // The part of the shorter of computing and reading by which it delays the longer.
  double not_hidden = 1.0 / 8;
  // The rate of a GPU's register tiles that read from caches, as a part of flops_per_second: in a
  // tile of 4 by 4 results each multiply-add needs half a load.
  double cached_rate = 0.45;
  // For each block of terms: the seconds in which a group of a GPU, alone on its unit, computes
  // nothing, because it waits for loads from memory and then at a barrier.
  double fill_seconds = 1e-6;
  // Bytes per second that one core reads from its L2 cache, from the cache that all cores share,
  // and from memory.
  double core_cache_bytes_per_second = 1.2e11;
  double shared_cache_bytes_per_second = 5e10;
  double unit_bytes_per_second = 3.5e10;
  // Cache lines moved for each line that is written: 2 where a store first reads the line.
  double write_traffic = 2;
  double group_seconds = 1e-7;  // fixed overhead of a work-group on its unit
  // Of multiply-adds by matrix instructions on halves, all units together; 0: there are none.
  // Narrower factors are proportionally faster.
  double matrix_flops_per_second = 0;
  // From a load from memory to its value, where nothing hides the wait.
  double load_seconds = 3e-7;
  // Bytes per second that one unit reads from local memory, and the local memory and the registers
  // of 32 bits that it divides among its work-groups.
  double local_bytes_per_second = 1e11;
  int64_t unit_local_memory = 32768;
  int64_t unit_registers = 32768;
  int64_t max_unit_items = 2048;  // work-items that a unit holds at a time, at most
  int64_t sector_bytes = 0;       // of a line, that a unit fetches alone; 0: whole lines
  // On the device's clock, of a kernel that does nothing.
  double kernel_seconds = 0;
  // Of a step of a loop whose loads nothing hides, and the instructions of short steps that wait
  // together because the device's compiler unrolls them.
  double step_seconds = 0, overlapped_instructions = 1;
  double barrier_seconds = 0;  // in which the work-items of a group combine what each has
  // The part of all other terms of a cost by which they delay the longest.
  double not_overlapped = 1.0 / 8;
  // The part of a cost by which predictions of one kernel's schedules are off, in the middle.
  double prediction_error = 0.25;
  // Work-items that a unit interleaves, so that some compute while others wait for memory.
  int items_per_unit = 1;
  // Limits on the size of a kernel's source, in instructions, because the device's compiler inlines
  // and unrolls everything. `inlined_instructions` limits the copies of one function outside of hot
  // loops (more copies become calls). `unrolled_instructions` limits a loop that is written with
  // `#pragma unroll`. Zero on a GPU, whose compiler has no cheap calls and unrolls by itself: then
  // there is no limit on copies, and no pragma.
  int64_t inlined_instructions = 0;
  int64_t unrolled_instructions = 0;

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

  // Whether the renderer has matrix instructions on halves.
  bool HasMatrixInstructions() const { return inline_ptx; }
  // Whether it has copies to local memory that a work-item does not wait for.
  bool HasAsyncCopies() const { return inline_ptx; }
  // Their rate for factors of `bits` bits.
  double MatrixOperationsPerSecond(size_t bits) const {
    return matrix_flops_per_second * 16 / static_cast<double>(bits);
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
std::bitset<kNumOps> AllMathFunctions();

// All presets, the default first.
std::span<const Target> TargetPresets();
// The preset of this name ("" gives the default), or the target in the file of this name if it ends
// in `.target`. An unknown name is an error that lists the presets.
absl::StatusOr<Target> FindTarget(std::string_view name);

// Whether the target has arithmetic in `s`. Loads and stores of a type need no arithmetic in it.
bool ComputesIn(const Target& target, Scalar s);

}  // namespace tg::passes

#endif  // TG_PASSES_TARGET_H_
