// What vectors cost and save on a CPU: for an axis along which elements could stand side by side,
// the loads, stores and operations of one result of the kernel.
#ifndef TG_PASSES_OPTIMIZE_LANES_H_
#define TG_PASSES_OPTIMIZE_LANES_H_

#include <vector>

#include "passes/optimize/heuristic.h"

namespace tg {

inline constexpr size_t kNoAxis = SIZE_MAX;

// The greatest power of two that divides n, at most `limit`.
int64_t PowerOfTwoDivisor(int64_t n, int64_t limit);

class LaneCosts {
 public:
  // `shared`: axes of what is stored along which some reduces stay the same and are computed once.
  LaneCosts(const Tuner& tuner, LoopSet shared) : t_(tuner), shared_(shared) {}

  // Lanes of the widest vector of the kernel's elements.
  int64_t Widest() const;
  // Lanes that vectors along an axis have; 1: none.
  int64_t Along(size_t axis) const;

  // The reduces that are loops, in order.
  std::vector<const UOp*> Reduces() const;
  // The innermost axis of a reduce that is a loop still, or kNoAxis.
  size_t LastAxis(const UOp* reduce) const;
  // The innermost reduce that an access is a term of; null: it is made once for a result.
  const UOp* ReduceOf(const Access& a) const;
  // Whether there is an element of a reduce for each step along this axis.
  bool Varies(const UOp* reduce, size_t axis) const;
  // Whether another reduce gives an element for each step along this axis of a reduce.
  bool HoldsReduce(size_t axis) const;

  // What a result costs where elements along `axis` stand side by side. Reduces that do not vary
  // along it, and all for kNoAxis, have their terms side by side instead. `only`: of these reduces.
  double Of(size_t axis, const NodeSet* only = nullptr) const;

 private:
  // How often a reduce is computed for each result, and a term of it.
  double Sums(const UOp* reduce) const;
  double Terms(const UOp* reduce) const;

  // Loads or stores for one element, with those along `axis` together.
  double CostAlong(const Access& a, size_t axis) const;

  const Tuner& t_;
  const LoopSet shared_;
};

}  // namespace tg

#endif  // TG_PASSES_OPTIMIZE_LANES_H_
