// Proposes the block sizes of a contraction for the registers and caches of one CPU core.
#ifndef TG_PASSES_SCHEDULE_CONTRACTION_BLOCKING_H_
#define TG_PASSES_SCHEDULE_CONTRACTION_BLOCKING_H_

#include <cstddef>
#include <vector>

#include "llvm/ADT/STLFunctionalExtras.h"
#include "passes/cost/blocking_cost.h"
#include "passes/schedule/schedule_builder.h"

namespace tg::schedule {

// The roles of the axes of the result, as positions of base axes, the outermost first. One operand
// varies along the rows, the other along the lanes, which are vectorized.
struct Roles {
  std::vector<size_t> batch;  // both operands vary along these
  std::vector<size_t> rows;   // only the first operand varies along these
  std::vector<size_t> lanes;  // only the second does; the last one is vectorized
  int64_t result_stride = 1;  // elements between results along the vectors' axis
  // The last axis of rows has a symbolic size: one group computes all of them, and rows are copied
  // a tile at a time.
  bool symbolic_rows = false;
};

// How an operand is addressed: its stride along each base axis. `is_indirect` says that the
// innermost loop should not read the operand in place but a copy of it, because some elements are
// padding or because the address is not an affine function of the axes. `kUnrelated` is the stride
// along an axis in which the address is not affine.
struct OperandAccess {
  static constexpr int64_t kUnrelated = int64_t{1} << 40;
  std::vector<int64_t> strides;
  bool is_indirect = false;
};

// One sum of products. A kernel may add up several, each in separate loops. `terms` are the base
// axes that it sums over.
struct Product {
  std::vector<size_t> terms;
  OperandAccess lanes, rows;
};

// Receives each blocking whose time is predicted, as explanations want them.
using BlockingObserver = llvm::function_ref<void(const cost::Blocking&)>;

// The best blockings, each with another register tile, by ascending predicted time: at most
// `count`, none of which takes more than `slack` times the time of the first. None if no blocking
// fits, or if the axes are so short that a copy of an operand would be read too few times to pay
// for itself. `type` is the type of the sums. `epilogue` is the cost of what is computed from each
// finished sum, in additions per result. The terms are cut into slices only if there is one
// product, since the epilogue must follow the last slice.
std::vector<cost::Blocking> BestBlockings(const loop_nest::LoopNest& nest, const Roles& roles,
                                          const std::vector<Product>& products, double epilogue,
                                          const passes::Target& target, DType type, size_t count,
                                          double slack, BlockingObserver observer = nullptr);

}  // namespace tg::schedule

#endif  // TG_PASSES_SCHEDULE_CONTRACTION_BLOCKING_H_
