// Target: what passes know of a device. A plain struct of capabilities with named presets, so that
// every pass is tested without a device. The module's text carries the name.
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

namespace tg {

struct Target {
  std::string name;
  std::string doc;
  bool is_gpu = false;

  // ---- Types that the device computes in. What is missing is rewritten by devectorize; half is
  // stored on every device.
  bool fp16 = false;
  bool fp64 = true;
  bool int64 = true;
  bool images = false;

  // ---- Mathematical functions (of kMathFunctions) that devectorize writes out in arithmetic,
  // since the device's are not as accurate as ir/accuracy.def says.
  std::bitset<kNumOps> own_functions;

  // ---- Vectors. Widths in bytes: of a vector in arithmetic (0: scalars) and of one access.
  int alu_width = 0;
  int mem_width = 16;
  // A wide access need not be aligned to its own size, only to its element.
  bool unaligned_access = false;
  bool fast_fma = true;  // a*b + c in one instruction

  // ---- Work-groups
  bool has_local = true;             // local memory and barriers work
  int64_t local_memory = 32768;      // bytes a group
  int64_t private_memory = 1 << 16;  // bytes a work-item that kernels may use for scratch
  int max_group_size = 256;
  int64_t max_groups[3] = {1LL << 31, 65535, 65535};
  int max_local[3] = {256, 256, 64};
  int subgroup_size = 1;

  // ---- For heuristics and cost models
  int compute_units = 2;
  int vector_registers = 32;  // vectors of alu_width (or scalars on a GPU) that stay in registers
  int cache_line = 64;        // bytes
  int64_t near_cache_bytes = 32 << 10;  // of a CPU's core: what takes it no time to read again
  int64_t core_cache_bytes = 1 << 20;   // its next one, which it has for itself
  int64_t cache_bytes = 2 << 20;  // what a core or multiprocessor finds near when it reads it again
  int64_t copied_bytes = 16;      // from beyond that, while a core copies an element from afar
  double bytes_per_second = 5e10;
  double flops_per_second = 5e11;
  double launch_seconds = 5e-6;  // what a kernel takes beside its work
  // Kernels that one launch makes at most, each with groups of its own. A kernel of a GPU takes as
  // many registers as the hungriest of its parts, which leaves room for fewer work-items of others.
  int fused_launches = 1;

  // Work-items of the largest groups that are made: of a GPU's larger ones a multiprocessor has two
  // or three, which wait for each other.
  int64_t MostItems() const { return std::min(256, max_group_size); }
  // The same for groups that each go through a row of so many elements: all that there may be,
  // where each multiprocessor has one group at most and there is much to do for it.
  int64_t MostItems(double groups, double row) const {
    constexpr double kLongRow = 8192;
    const bool alone = groups <= compute_units && row >= kLongRow;
    return alone ? std::min(1024, max_group_size) : MostItems();
  }

  // Words of 32 bits that the sums of a loop may take in registers, beside what is loaded for them:
  // on a CPU half of its vectors; on a GPU two vectors of four, which leave registers for many
  // work-items at a time.
  int64_t MaxAccumulators() const { return is_gpu ? 8 : vector_registers / 2 * (alu_width / 4); }
  // The most: on a CPU where one load serves a row or column of a tile, three quarters.
  int64_t MaxTile() const {
    return is_gpu ? MaxAccumulators() : vector_registers * 3 / 4 * (alu_width / 4);
  }
};

// The functions that can be written out.
inline constexpr Op kMathFunctions[] = {Op::kExp2, Op::kLog2,  Op::kSin, Op::kPow,
                                        Op::kSqrt, Op::kRecip, Op::kDiv};
// All of them, for Target::own_functions.
std::bitset<kNumOps> AllMathFunctions();

// All presets, the default first.
std::span<const Target> TargetPresets();
// The preset of this name ("" gives the default); an unknown name is an error that lists them.
absl::StatusOr<Target> FindTarget(std::string_view name);

// Whether arithmetic in `s` is available on the target (storage always is).
bool ComputesIn(const Target& target, Scalar s);

}  // namespace tg

#endif  // TG_PASSES_TARGET_H_
