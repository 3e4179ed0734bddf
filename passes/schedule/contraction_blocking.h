// How a contraction is blocked for the registers and caches of a CPU's core.
#ifndef TG_PASSES_SCHEDULE_CONTRACTION_BLOCKING_H_
#define TG_PASSES_SCHEDULE_CONTRACTION_BLOCKING_H_

#include <optional>
#include <vector>

#include "passes/schedule/schedule_builder.h"

namespace tg {

// The axes of a contraction by role, as base axes, the outermost first.
struct Roles {
  std::vector<size_t> batch;  // both operands vary along them
  std::vector<size_t> rows;   // the operand of rows alone does
  std::vector<size_t> lanes;  // the operand of lanes alone does; the last has the vectors
  std::vector<size_t> terms;
  size_t lane_operand = 0;
  int64_t result_stride = 1;  // elements between results along the vectors' axis
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

// The strides of an operand along the base axes, and whether some of it is padding.
struct OperandAccess {
  std::vector<int64_t> strides;
  bool is_gated = false;
};

// The blocking of the least predicted time; nullopt if copies of the operands would serve too few
// results to pay. `operands`: the accesses of the product's sources; `type`: of the sums.
std::optional<Blocking> BestBlocking(const Schedule& schedule, const Roles& roles,
                                     const Target& target, DType type,
                                     const OperandAccess (&operands)[2]);

}  // namespace tg

#endif  // TG_PASSES_SCHEDULE_CONTRACTION_BLOCKING_H_
