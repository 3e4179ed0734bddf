// The cost of vectorization on a CPU: loads, stores and operations for one result of the kernel,
// for each axis that could be vectorized; and the register tiles that go with it.
#ifndef TG_PASSES_SCHEDULE_VECTORIZATION_COST_H_
#define TG_PASSES_SCHEDULE_VECTORIZATION_COST_H_

#include <utility>
#include <vector>

#include "passes/schedule/schedule_builder.h"

namespace tg {

inline constexpr size_t kNoAxis = SIZE_MAX;

class VectorizationCost {
 public:
  // `shared`: axes of what is stored along which some reduces are invariant and are computed once.
  VectorizationCost(const ScheduleBuilder& builder, LoopSet shared);

  // Lanes of the widest vector of the kernel's elements.
  int64_t Widest() const { return widest_; }
  // Lanes of a vector along an axis; 1: it cannot be vectorized.
  int64_t Along(size_t axis) const;

  // A reduce that needs a loop. `sums`: how often it is computed for each result of the kernel;
  // `terms`: how many of its terms.
  struct Reduce {
    const UOp* node;
    double sums, terms;
  };
  // In the order of their axes.
  const std::vector<Reduce>& reduces() const { return reduces_; }
  // The innermost axis of a reduce that is still a loop, or kNoAxis.
  size_t LastAxis(const UOp* reduce) const;
  // The innermost reduce of which the access with this number is a term; null: it is executed once
  // for each result.
  const UOp* ReduceOf(size_t access) const { return reduce_of_[access]; }
  // Whether a reduce axis is short enough to be unrolled: a few terms, or a window that decides
  // about padding or addresses.
  bool IsShort(size_t axis) const;
  // Whether the value of a reduce depends on this axis, or the axis is its own.
  bool Varies(const UOp* reduce, size_t axis) const {
    return VariesOver(reduce, t_.nest().axes[axis].base);
  }
  // The same for a base axis, by number.
  bool VariesOver(const UOp* reduce, size_t base) const;
  // Whether another reduce is computed for each step of this reduce axis.
  bool HoldsReduce(size_t axis) const;

  // Accumulators, vectors of `width` lanes, that a register tile may have.
  int64_t MaxAccumulatorVectors(int64_t width) const;

  // The register tile for lanes along `axis`: axes of results, or of a reduce around a reduce, that
  // share loads, with the amount of each. It is one axis other than the vector's, with an amount
  // that leaves the accumulators of `width` lanes in registers; where that amount is small, further
  // vectors of the vector's axis are added.
  using RegisterTile = std::vector<std::pair<size_t, int64_t>>;
  RegisterTile TileBeside(size_t axis, int64_t width) const;
  // The rest of an axis outside of a vector of `width` lanes, and by how much to upcast it, at most
  // `most`, since its vectors share the loads that are invariant along it.
  std::pair<size_t, int64_t> VectorsBeside(size_t axis, int64_t width, int64_t most) const;
  // Rows and columns of a register tile whose reduce terms are vectorized.
  static constexpr int64_t kTermRows = 4;
  // The register tile for vectorized terms; its accumulators fit into `words` words of 32 bits. The
  // first axis is the one along which most loads are invariant: of two products with a common
  // operand, each has one load that repeats along the rows. Each further axis is the next by that
  // order or, if fewer loads are left then, the one that serves most of the loads which no axis
  // serves yet. The gradient of a window's weights needs the latter: one operand repeats along both
  // axes of the window, the other along its channels.
  RegisterTile TileOfTerms(int64_t words) const;
  // The first of the two orders. Terms are compared with lanes along an axis by this tile only: the
  // costs count loads but know no caches, so that the other tile would make terms look too good.
  RegisterTile PlainTileOfTerms(int64_t words) const;

  // Cost of one result if `axis` is vectorized. Reduces that do not depend on `axis`, and all of
  // them for kNoAxis, have their terms vectorized instead, or the staged value that contains them.
  // `only`: counts these reduces alone, with vectorized terms.
  double Of(size_t axis, const NodeSet* only = nullptr) const;
  // The axis of the least cost, the last of equal ones; kNoAxis if no axis is better than
  // vectorized terms.
  size_t Cheapest(const AxisList& axes, const NodeSet* only = nullptr) const;

 private:
  const Reduce* Find(const UOp* node) const;
  double Sums(const UOp* reduce) const;
  // Cost of a reduce with lanes along `along`; `adds_up`: the lanes are its terms.
  double OfReduce(const Reduce& reduce, size_t along, bool adds_up, const RegisterTile& tile) const;

  // Loads or stores for one element if `axis` is vectorized.
  double CostAlong(const Access& a, size_t axis) const;
  // Whether lanes along `axis` are loaded one by one for the terms of a reduce. Reduces with few
  // terms in all do not count.
  bool GathersAlong(size_t axis) const;
  // Axes of results along which loads are invariant, in descending order of the loads that they
  // serve; `others_next`: most of the loads that no earlier axis serves.
  std::vector<size_t> AxesByLoads(bool others_next) const;
  // Upcasts each of these axes in turn while the accumulators fit into `words`.
  RegisterTile TileAlong(const std::vector<size_t>& axes, int64_t words) const;
  // How many results of a tile share a load.
  double ReuseIn(const Access& a, const RegisterTile& tile) const;

  const ScheduleBuilder& t_;
  const LoopSet shared_;
  const int64_t widest_;
  std::vector<Reduce> reduces_;
  std::vector<const UOp*> reduce_of_;  // indexed by access
};

}  // namespace tg

#endif  // TG_PASSES_SCHEDULE_VECTORIZATION_COST_H_
