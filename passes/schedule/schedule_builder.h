// Chooses directives by rules for the kind of target, without a search.
#ifndef TG_PASSES_SCHEDULE_SCHEDULE_BUILDER_H_
#define TG_PASSES_SCHEDULE_SCHEDULE_BUILDER_H_

#include <optional>
#include <vector>

#include "ir/module.h"
#include "ir/shape.h"
#include "passes/analysis/accesses.h"
#include "passes/analysis/kernel_schedule.h"
#include "passes/target.h"

namespace tg {

// Builds a schedule: answers the queries of the rules, tries directives, and records the legal
// ones.
class ScheduleBuilder {
 public:
  // `folded`: reduces that need no loop; their axes must be left alone.
  ScheduleBuilder(const Kernel& kernel, ShapeMap& shapes, Schedule schedule,
                  std::vector<Access> accesses, NodeSet folded, const Target& target)
      : kernel_(kernel),
        shapes_(shapes),
        schedule_(std::move(schedule)),
        accesses_(std::move(accesses)),
        folded_(std::move(folded)),
        target_(target) {}

  const Kernel& kernel() const { return kernel_; }
  const Schedule& schedule() const { return schedule_; }
  // the object must not be used after that
  Schedule TakeSchedule() { return std::move(schedule_); }
  const std::vector<Access>& accesses() const { return accesses_; }
  const Target& target() const { return target_; }
  const std::vector<Directive>& directives() const { return directives_; }

  // What directives change. A rule saves it, tries directives, and restores it.
  struct State {
    Schedule schedule;
    std::vector<Directive> directives;
  };
  State Save() const { return {schedule_, directives_}; }
  void Restore(const State& state) { schedule_ = state.schedule, directives_ = state.directives; }

  // Applies `name(axis, amount)`; amount 0 means the whole axis. Returns false if it is not legal.
  bool Try(std::string_view name, size_t axis, int64_t amount = 0);

  // Applies `name(axis, other)`, where `other` names the local axis of a group's work-items.
  bool TryWith(std::string_view name, size_t axis, std::string_view other);

  // The reduce that a base axis belongs to; null for axes of what is stored and for folded reduces.
  const UOp* ReduceOf(const BaseAxis& base) const {
    return base.reduce && !folded_.Contains(base.reduce) ? base.reduce : nullptr;
  }
  // Makes loops of the remaining global parts of these base axes, the outermost first.
  void LoopAlong(LoopSet bases);

  // Positions of the axes of one kind, in order, without axes of folded reduces.
  AxisList Axes(AxisKind kind) const;
  int64_t Size(size_t axis) const { return schedule_.axes[axis].max_size; }
  bool IsSymbolic(size_t axis) const { return schedule_.axes[axis].size.is_symbolic(); }
  // The stride of an access along a scheduled axis; nullopt if the address is not affine in it.
  std::optional<int64_t> Stride(const Access& a, size_t axis) const;
  // The axes of what is stored along which some reduce of the kernel is invariant (bit: base axis).
  // A work-item or group that iterates over them computes that reduce once. Reduces of a few terms
  // do not count.
  LoopSet SharedAlong() const;
  // Height of a tile along an axis, at most `most`: `divisor` of its size, or, if that is at most
  // half of `most`, the greatest height whose padding overhead is acceptable.
  int64_t TileAlong(size_t axis, int64_t most, int64_t divisor) const;
  // Whether `rows` divides an axis, or pads it with acceptable overhead.
  bool IsTileable(size_t axis, int64_t rows) const;
  // Upcasts a global axis by `rows`, padding it to a multiple; pads to an even number of tiles if
  // that costs little more.
  bool Upcast(size_t axis, int64_t rows);
  // How many loads of the terms of staged values are invariant along this axis, so that upcast rows
  // of results share them.
  size_t ReuseAlong(size_t axis) const;
  // Whether an axis of a staged value is the contiguous one of its memory.
  bool IsInnermost(size_t axis) const;
  // Work-items so far: the product of global and local axes.
  int64_t WorkItems() const;
  // Whether part of this axis's base is already upcast, vectorized or unrolled.
  bool HasLanes(size_t axis) const;

 private:
  bool Keep(Directive directive);
  bool MayPad(size_t axis) const;

  const Kernel& kernel_;
  ShapeMap& shapes_;
  Schedule schedule_;
  std::vector<Access> accesses_;
  NodeSet folded_;
  const Target& target_;
  std::vector<Directive> directives_;
};

// The greatest power of two, and the greatest number, that divides n and is at most `limit`.
int64_t PowerOfTwoDivisor(int64_t n, int64_t limit);
int64_t GreatestDivisor(int64_t n, int64_t limit);

void ScheduleForGpu(ScheduleBuilder& builder);
void ScheduleForCpu(ScheduleBuilder& builder);

}  // namespace tg

#endif  // TG_PASSES_SCHEDULE_SCHEDULE_BUILDER_H_
