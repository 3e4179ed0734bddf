// What vectors cost and save on a CPU: for an axis along which elements could stand side by side,
// the loads, stores and operations of one result of the kernel.
#ifndef TG_PASSES_OPTIMIZE_LANES_H_
#define TG_PASSES_OPTIMIZE_LANES_H_

#include <utility>
#include <vector>

#include "passes/optimize/heuristic.h"

namespace tg {

inline constexpr size_t kNoAxis = SIZE_MAX;

class LaneCosts {
 public:
  // `shared`: axes of what is stored along which some reduces stay the same and are computed once.
  LaneCosts(const Tuner& tuner, LoopSet shared);

  // Lanes of the widest vector of the kernel's elements.
  int64_t Widest() const { return widest_; }
  // Lanes that vectors along an axis have; 1: none.
  int64_t Along(size_t axis) const;

  // A reduce that is a loop: how often it is computed for each result of the kernel, and a term.
  struct Reduce {
    const UOp* node;
    double sums, terms;
  };
  // In order.
  const std::vector<Reduce>& reduces() const { return reduces_; }
  // The innermost axis of a reduce that is a loop still, or kNoAxis.
  size_t LastAxis(const UOp* reduce) const;
  // The innermost reduce that an access, by its number, is a term of; null: it is made once for a
  // result.
  const UOp* ReduceOf(size_t access) const { return reduce_of_[access]; }
  // Whether an axis of a reduce is short enough to be written out: a window, if it decides what is
  // padding, or a few terms.
  bool IsShort(size_t axis) const;
  // Whether there is an element of a reduce for each step along this axis.
  bool Varies(const UOp* reduce, size_t axis) const {
    return VariesOver(reduce, t_.schedule().axes[axis].base);
  }
  // The same of an axis before opts, by its number.
  bool VariesOver(const UOp* reduce, size_t base) const;
  // Whether another reduce gives an element for each step along this axis of a reduce.
  bool HoldsReduce(size_t axis) const;

  // Whether a load, by its number, is packed where results along `axis` stand in lanes: a group
  // copies what its terms are for those lanes, which lies apart, side by side into memory of its
  // own, and reads it from there for many results (the packing of Goto and van de Geijn, "Anatomy
  // of High-Performance Matrix Multiplication", 2008).
  // `vectors`: of lanes that a group has.
  bool Packs(size_t access, size_t axis, int64_t vectors = 1) const {
    return PackedUses(access, axis, vectors) >= kWorthPacking;
  }

  // Vectors of sums, of `width` lanes each, that a tile may have.
  int64_t MostSums(int64_t width) const;

  // Axes along which results, or elements of a reduce inside a reduce, are made side by side as
  // they share what is loaded for them, and how many: one axis beside lanes along `axis` (or, once
  // these are a vector, that vector's), as many as leave the sums of `width` lanes each in
  // registers; where these are few, more vectors of the same axis.
  using Tile = std::vector<std::pair<size_t, int64_t>>;
  Tile TileBeside(size_t axis, int64_t width) const;
  // What is left of an axis beside a vector of `width` lanes, and how many of these vectors, at
  // most `most`, stand side by side since they share what does not vary along it.
  std::pair<size_t, int64_t> VectorsBeside(size_t axis, int64_t width, int64_t most) const;
  // Rows and columns of a tile of sums that have terms in lanes.
  static constexpr int64_t kTermRows = 4;
  // Beside terms in lanes: as many as leave the sums in `words` of 32 bits. First along the axis
  // that serves most loads: two products of one operand have one each that repeats along its rows.
  // Then along the next of these, or, if fewer loads are left so, along the one that serves most of
  // the others: both axes of a window repeat the gradient that it is multiplied by, its channels
  // the window.
  Tile TileOfTerms(int64_t words) const;
  // The first of the two, by which terms are weighed against lanes along an axis: costs know of
  // loads, not of caches, and with the second make terms look better than they are (unet's
  // projections of 320 channels take 7.6 ms with terms in the lanes, 3.4 with results).
  Tile PlainTileOfTerms(int64_t words) const;

  // What a result costs where elements along `axis` stand side by side. Reduces that do not vary
  // along it, and all for kNoAxis, have their terms side by side instead, or what is kept of them.
  // `only`: of these reduces, which have their terms side by side.
  double Of(size_t axis, const NodeSet* only = nullptr) const;
  // The axis of these along which it costs least, the last of equal ones; kNoAxis where nothing is
  // better than terms side by side.
  size_t Cheapest(const AxisList& axes, const NodeSet* only = nullptr) const;

 private:
  const Reduce* Find(const UOp* node) const;
  double Sums(const UOp* reduce) const;
  // Of all that is computed of a reduce with elements along `along` side by side; `adds_up`: those
  // are its terms.
  double OfReduce(const Reduce& reduce, size_t along, bool adds_up, const Tile& tile) const;

  // Results, of those that each lane has in a group, that a packed element serves; 0: it cannot be
  // packed. More than two tiles have to.
  static constexpr int64_t kWorthPacking = 16;
  int64_t PackedUses(size_t access, size_t axis, int64_t vectors = 1) const;
  // Whether two accesses of one load, by their numbers, differ in nothing but whose terms they are:
  // each of two products of one input. Of loads all of whose elements are terms of both.
  bool ReadAlike(size_t access, size_t other) const;
  // How many vectors of lanes along `axis` a tile may have where some load is packed for them.
  int64_t MostVectors(size_t axis) const;

  // Loads or stores for one element, with those along `axis` together.
  double CostAlong(const Access& a, size_t axis) const;
  // Whether lanes along `axis` are loaded one by one for terms of a reduce, the many and not the
  // few that have another reduce inside.
  bool GathersAlong(size_t axis) const;
  // Axes of results along which loads repeat, those that serve most loads first; `others_next`:
  // most of those that none before it serves.
  std::vector<size_t> AxesByLoads(bool others_next) const;
  // Some results along each of these, in turn, while their sums leave room.
  Tile TileAlong(const std::vector<size_t>& axes, int64_t words) const;
  // How many results of a tile a load serves.
  double ServedBy(const Access& a, const Tile& tile) const;

  const Tuner& t_;
  const LoopSet shared_;
  const int64_t widest_;
  std::vector<Reduce> reduces_;
  std::vector<const UOp*> reduce_of_;  // by access
};

}  // namespace tg

#endif  // TG_PASSES_OPTIMIZE_LANES_H_
