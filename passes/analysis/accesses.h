// Finds the memory accesses of a kernel at Stage::kKernel: the address of every load and store as
// an expression over the kernel's axes, and its stride along each axis.
#ifndef TG_PASSES_ANALYSIS_ACCESSES_H_
#define TG_PASSES_ANALYSIS_ACCESSES_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "ir/module.h"
#include "ir/shape.h"
#include "llvm/ADT/SmallVector.h"
#include "passes/analysis/indexing.h"
#include "passes/analysis/kernel_axes.h"

namespace tg::analysis {

// A mask boundary: an iteration of an axis at which a predicate becomes true or false. It is one of
// first..last; which one may depend on the other axes. 0 < first <= last < the axis's size.
struct MaskBoundary {
  int64_t first = 0, last = 0;
};
// The boundaries of all clauses of a predicate. `anywhere`: some clause may change at every
// iteration.
struct MaskBoundaries {
  std::vector<MaskBoundary> at;
  bool anywhere = false;
};

// What a term adds to an address for each iteration of an axis: always (period 0), only on average
// as a quotient grows once in `period` iterations, or until a remainder wraps after `period`.
struct GrowthPart {
  enum class Kind : uint8_t { kLinear, kQuotient, kRemainder };
  Kind kind = Kind::kLinear;
  double each = 0;
  double period = 0;
};

struct Access {
  const UOp* node = nullptr;  // the load or store; or the staged value that is read
  int64_t slot = 0;           // number of the kernel's argument; -1 for a staged value
  // The innermost `packed` node on the way from the store to this load, or null.
  const UOp* packed = nullptr;
  bool is_gated = false;  // has a predicate
  // By base axis: the distance in elements between the addresses of consecutive iterations (0: the
  // same address). nullopt if the address is not affine in the axis.
  std::vector<std::optional<int64_t>> stride;
  // By base axis whose stride is nullopt because its counter occurs in quotients and remainders by
  // constants: the parts of the address's growth. Empty if it occurs in another way.
  std::vector<llvm::SmallVector<GrowthPart, 2>> growth;
  // The mean distance in elements between addresses, `step` iterations of a base axis after each
  // other, over `count` steps that begin where a remainder does. nullopt if it is not known.
  std::optional<double> DistanceOf(size_t axis, int64_t step, int64_t count) const;
  std::vector<bool> masked;                // by base axis: whether the predicate depends on it
  std::vector<MaskBoundaries> boundaries;  // by base axis: the predicate's boundaries

  bool is_store() const { return node->op == Op::kStore; }
  bool is_staged() const { return node->op == Op::kStaged; }
};

// Limit on the number of combinations of indices and predicates under which one node is analysed.
// Each pair of a shrink and a pad may double their number. Beyond the limit, each load from which
// the node is computed gets one additional, conservative Access, with unknown strides and a
// predicate that depends on all axes.
inline constexpr size_t kMaxPlacesPerNode = 64;

// Returns an Access for each combination of indices and predicate under which a load or store of an
// argument is executed. The number of combinations visited is at most the number of nodes times
// kMaxPlacesPerNode + 1. New nodes are created in the body's context.
// `with_staged`: also an Access, with slot -1, for each place at which a staged value is read; its
// strides are those in a row-major copy of the value along its staged axes.
std::vector<Access> FindAccesses(Body& body, const std::vector<BaseAxis>& axes, ShapeMap& shapes,
                                 SimplifyFn simplify, bool with_staged = false);

}  // namespace tg::analysis

#endif  // TG_PASSES_ANALYSIS_ACCESSES_H_
