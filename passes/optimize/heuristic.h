// Opts by rules for the kind of target, without a search.
#ifndef TG_PASSES_OPTIMIZE_HEURISTIC_H_
#define TG_PASSES_OPTIMIZE_HEURISTIC_H_

#include <optional>
#include <vector>

#include "ir/module.h"
#include "ir/shape.h"
#include "passes/analysis/accesses.h"
#include "passes/analysis/schedule.h"
#include "passes/target.h"

namespace tg {

// A schedule being built up: what rules ask of it, and opts that are tried and kept if legal.
class Tuner {
 public:
  // What a kernel may keep in memory of its own.
  struct May {
    bool pack = true;       // what it loads
    bool keep_sums = true;  // for loops that they have for themselves
  };
  // `folded`: reduces that need no loop, whose axes are to be left alone.
  Tuner(const Kernel& kernel, ShapeMap& shapes, Schedule schedule, std::vector<Access> accesses,
        NodeSet folded, const Target& target, May may)
      : kernel_(kernel),
        shapes_(shapes),
        schedule_(std::move(schedule)),
        accesses_(std::move(accesses)),
        folded_(std::move(folded)),
        target_(target),
        may_(may) {}

  const Kernel& kernel() const { return kernel_; }
  const Schedule& schedule() const { return schedule_; }
  Schedule TakeSchedule() { return std::move(schedule_); }  // of no use after that
  const std::vector<Access>& accesses() const { return accesses_; }
  const Target& target() const { return target_; }
  const std::vector<Opt>& opts() const { return opts_; }
  const Shape& ShapeOf(const UOp* u) const { return shapes_.Of(u); }

  // Not where it overwrites what it reads.
  bool MayPack() const { return may_.pack && !schedule_.IsInPlace(); }
  bool MayKeepSums() const { return may_.keep_sums && !schedule_.IsInPlace(); }
  // Loads that the kernel is to read from a copy of its own.
  const std::vector<const UOp*>& packed() const { return packed_; }
  void Pack(const UOp* load) { packed_.push_back(load); }
  // Sums that it keeps, and the loop from which on they are made apart (passes/optimize/apart.h).
  const std::vector<const UOp*>& sums() const { return sums_; }
  void KeepSums(std::vector<const UOp*> sums) { sums_ = std::move(sums); }
  const std::string& sums_loop() const { return sums_loop_; }
  void SetSumsLoop(std::string axis) { sums_loop_ = std::move(axis); }

  // What opts change, to try others instead.
  struct State {
    Schedule schedule;
    std::vector<Opt> opts;
  };
  State Save() const { return {schedule_, opts_}; }
  void Restore(const State& state) { schedule_ = state.schedule, opts_ = state.opts; }

  // Applies `name(axis, amount)` (amount 0: the whole axis); false where it is not legal.
  bool Try(std::string_view name, size_t axis, int64_t amount = 0);

  // The same with another axis, by name, for an amount: the local axis of a group's work-items.
  bool TryWith(std::string_view name, size_t axis, std::string_view other);

  // The reduce that a base axis belongs to; null for axes of what is stored and for folded reduces.
  const UOp* ReduceOf(const BaseAxis& base) const {
    return base.reduce && !folded_.Contains(base.reduce) ? base.reduce : nullptr;
  }
  // What is still global of these base axes becomes loops, the outermost first.
  void LoopAlong(LoopSet bases);

  // Positions of the axes of one kind, in order; none of a folded reduce.
  AxisList Axes(AxisKind kind) const;
  int64_t Size(size_t axis) const { return schedule_.axes[axis].max_size; }
  bool IsSymbolic(size_t axis) const { return schedule_.axes[axis].size.is_symbolic(); }
  // The stride of an access along a scheduled axis; nullopt where it is not linear.
  std::optional<int64_t> Stride(const Access& a, size_t axis) const;
  // The axes of what is stored along which some reduce of the kernel stays the same (bit: base
  // axis): a work-item or group that goes through them computes that reduce once. Reduces of a few
  // terms do not count.
  LoopSet SharedAlong() const;
  // Rows of a tile along an axis, at most `most`: `divisor` of its size, or where that is no more
  // than half of `most` the greatest number that pads the axis by little.
  int64_t TileAlong(size_t axis, int64_t most, int64_t divisor) const;
  // Whether tiles of so many rows divide an axis, or pad it by little.
  bool TakesTiles(size_t axis, int64_t rows) const;
  // Makes so many results side by side along a global axis, which is padded to that if need be: to
  // an even number of tiles where that is little more.
  bool Upcast(size_t axis, int64_t rows);
  // How many of the loads that staged values are made of are the same all along this axis, so that
  // rows of results side by side share them.
  size_t ServedAlong(size_t axis) const;
  // Whether an axis of a staged value is the one that its memory is contiguous in.
  bool IsInnermost(size_t axis) const;
  // Work-items so far: the product of global and local axes.
  int64_t WorkItems() const;
  // Whether part of this axis's base is upcast (or unrolled) already.
  bool HasLanes(size_t axis) const;

 private:
  bool Keep(Opt opt);
  bool MayPad(size_t axis) const;

  const Kernel& kernel_;
  ShapeMap& shapes_;
  Schedule schedule_;
  std::vector<Access> accesses_;
  NodeSet folded_;
  const Target& target_;
  const May may_;
  std::vector<Opt> opts_;
  std::vector<const UOp*> packed_, sums_;
  std::string sums_loop_;
};

// The greatest power of two, and the greatest number, that divides n and is at most `limit`.
int64_t PowerOfTwoDivisor(int64_t n, int64_t limit);
int64_t GreatestDivisor(int64_t n, int64_t limit);

void TuneForGpu(Tuner& tuner);
void TuneForCpu(Tuner& tuner);

}  // namespace tg

#endif  // TG_PASSES_OPTIMIZE_HEURISTIC_H_
