// How a contraction is blocked for the registers and caches of a CPU's core.
#ifndef TG_PASSES_SCHEDULE_CONTRACTION_BLOCKING_H_
#define TG_PASSES_SCHEDULE_CONTRACTION_BLOCKING_H_

#include <optional>
#include <vector>

#include "passes/schedule/schedule_builder.h"

namespace tg {

// The base axes along which results are stored, by role, the outermost first.
struct Roles {
  std::vector<size_t> batch;  // both operands vary along them
  std::vector<size_t> rows;   // the operand of rows alone does
  std::vector<size_t> lanes;  // the operand of lanes alone does; the last has the vectors
  int64_t result_stride = 1;  // elements between results along the vectors' axis
};

// The strides of an operand along the base axes, and whether it must not be read in the innermost
// loop: some of it is padding, or its address is no sum of multiples. In that case the strides of
// such axes are `kUnrelated`.
struct OperandAccess {
  static constexpr int64_t kUnrelated = int64_t{1} << 40;
  std::vector<int64_t> strides;
  bool is_indirect = false;
};

// One of the products that a kernel adds up, each in separate loops. `terms`: base axes.
struct Product {
  std::vector<size_t> terms;
  OperandAccess lanes, rows;
};

// One way to block a contraction. Rows and lanes are in tiles that stay in registers; `strip`: the
// results of a tile along the lanes; `lines`: steps of the lanes' last axis but one.
struct Blocking {
  int64_t vectors = 1, rows = 1;            // of a tile
  int64_t row_groups = 1, lane_groups = 1;  // work-groups along either
  int64_t tiles = 1;                        // of rows, in a group
  int64_t blocks = 1, strips = 1;           // of lanes in a group, and of a block
  int64_t lines = 1;                        // in a block
  int64_t row_lines = 1;                    // steps of the rows' last axis but one, in a group
  int64_t slices = 1, depth = 1;  // of terms along their outermost axis, and its steps in each
  enum class RowCopy { kNone, kTile, kLine, kGroup } row_copy = RowCopy::kTile;
  double seconds = 0;
};

// The blocking of the least predicted time; nullopt if copies of the operands would serve too few
// results to pay. `type`: of the sums; `epilogue`: additions' worth of what is made of the sums,
// for each result. The terms of one product alone may be in slices, each of which computes the
// epilogue.
std::optional<Blocking> BestBlocking(const LoopNest& schedule, const Roles& roles,
                                     const std::vector<Product>& products, double epilogue,
                                     const Target& target, DType type);

}  // namespace tg

#endif  // TG_PASSES_SCHEDULE_CONTRACTION_BLOCKING_H_
