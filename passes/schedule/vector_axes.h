// Which axes of a CPU's kernel vectors may run along, and the register tiles that go with them.
#ifndef TG_PASSES_SCHEDULE_VECTOR_AXES_H_
#define TG_PASSES_SCHEDULE_VECTOR_AXES_H_

#include <utility>
#include <vector>

#include "passes/schedule/schedule_builder.h"

namespace tg::schedule {

inline constexpr size_t kNoAxis = SIZE_MAX;

class VectorAxes {
 public:
  explicit VectorAxes(const ScheduleBuilder& builder);

  // Lanes of the widest vector of the kernel's elements.
  int64_t Widest() const { return widest_; }
  // The number of lanes of a vector along an axis; 1 if the axis cannot be vectorized. If they do
  // not divide the axis, it must overlap (ScheduleBuilder::TryBlock).
  int64_t Along(size_t axis) const { return t_.LanesAlong(axis, Widest()); }
  // Those of these axes that can be vectorized. First come those whose vectors fill half of a
  // register; of these, and of the others, those along which the most accesses are contiguous; of
  // equal ones the last axis.
  std::vector<size_t> ByContiguity(const loop_nest::AxisList& axes) const;

  // The reduces that need a loop, in the order of their axes.
  const std::vector<const UOp*>& reduces() const { return reduces_; }
  // The innermost axis of a reduce that is still a loop, or kNoAxis.
  size_t LastAxis(const UOp* reduce) const;
  // The reduce whose terms the access with this index belongs to; of nested reduces, the innermost
  // one. Null if the access is executed once for each result.
  const UOp* ReduceOf(size_t access) const { return reduce_of_[access]; }
  // Whether a reduce axis is short enough to be unrolled. The limit is a few iterations, or the
  // size of a window if the axis decides about padding or if some address is not affine in it.
  bool IsShort(size_t axis) const;
  // Whether the value of a reduce varies along this axis, or the axis is one of the reduce.
  bool Varies(const UOp* reduce, size_t axis) const {
    return VariesOver(reduce, t_.nest().axes[axis].base);
  }
  // The same for the base axis at this position.
  bool VariesOver(const UOp* reduce, size_t base) const;
  // Whether another reduce is computed in each iteration of this reduce axis.
  bool HoldsReduce(size_t axis) const;
  // Whether vectors along `axis` make the terms of some reduce be loaded lane by lane.
  bool GathersAlong(size_t axis) const;

  // The maximum number of accumulators of a register tile, each a vector of `width` lanes.
  int64_t MaxAccumulatorVectors(int64_t width) const;

  // The register tile to use if `axis` is vectorized, as pairs of an axis and an amount to upcast
  // it by. The axes are those of results, or of a reduce that contains another reduce, along which
  // loads are invariant. The tile has one axis other than `axis`, with the greatest amount for
  // which the accumulators of `width` lanes fit into registers. If that amount is small, the tile
  // also has several vectors along `axis`.
  using RegisterTile = std::vector<std::pair<size_t, int64_t>>;
  RegisterTile TileOfResults(size_t axis, int64_t width) const;
  // The axis that remains outside of a vector of `width` lanes along `axis`, and the amount, at
  // most `most`, to upcast it by. Upcasting it makes several vectors share the loads that are
  // invariant along `axis`.
  std::pair<size_t, int64_t> VectorsAlong(size_t axis, int64_t width, int64_t most) const;
  // The register tiles to use if the terms of reduces are vectorized. Their accumulators fit into
  // `words` words of 32 bits. The axes of results are taken in one of two orders. The first order
  // ranks axes by the number of loads that are invariant along them. The second one ranks them by
  // the number of loads that no earlier axis shares yet; the gradient of a window's weights needs
  // it, where one operand repeats along both axes of the window and the other one along its
  // channels.
  std::vector<RegisterTile> TilesOfTerms(int64_t words) const;

 private:
  // Axes of results along which loads are invariant, ranked as TilesOfTerms says: by the first
  // order, or with `others_next` by the second.
  std::vector<size_t> AxesByLoads(bool others_next) const;
  // A tile that upcasts each of these axes in turn, as long as the accumulators fit into `words`.
  RegisterTile TileAlong(const std::vector<size_t>& axes, int64_t words) const;

  const ScheduleBuilder& t_;
  const int64_t widest_;
  std::vector<const UOp*> reduces_;
  std::vector<const UOp*> reduce_of_;  // indexed by access
};

}  // namespace tg::schedule

#endif  // TG_PASSES_SCHEDULE_VECTOR_AXES_H_
