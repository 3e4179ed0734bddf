// ScheduleBuilder, and the entry points of the rules that choose directives for CPUs and GPUs.
#ifndef TG_PASSES_SCHEDULE_SCHEDULE_BUILDER_H_
#define TG_PASSES_SCHEDULE_SCHEDULE_BUILDER_H_

#include <algorithm>
#include <optional>
#include <vector>

#include "ir/module.h"
#include "passes/analysis/accesses.h"
#include "passes/directives/directives.h"
#include "passes/loop_nest/loop_nest.h"
#include "passes/schedule/candidates.h"
#include "passes/schedule/kernel_facts.h"
#include "passes/target.h"

namespace tg::schedule {

// Builds a schedule: tries directives, keeps the legal ones, and answers the rules' questions about
// the schedule so far.
class ScheduleBuilder {
 public:
  // The most copies of a kernel's body that its source gets, by tiles or by unrolled loops. More
  // take long to compile.
  static constexpr int64_t kMostCopies = 64;

  // `facts` must outlive the builder.
  explicit ScheduleBuilder(KernelFacts& facts, Candidates* candidates = nullptr)
      : facts_(facts), nest_(facts.plain()), candidates_(candidates) {}

  const Kernel& kernel() const { return facts_.kernel(); }
  const loop_nest::LoopNest& nest() const { return nest_; }
  const std::vector<analysis::Access>& accesses() const { return facts_.accesses(); }
  const passes::Target& target() const { return facts_.target(); }
  // How many work-items a rule for GPUs gives a group: the most (Target::MostItems), and those
  // where there is enough work (Target::group_items), as a part of what is usual. A rule of a form
  // is asked for several parts.
  void SetGroupPart(double part) { group_part_ = part; }
  int64_t MostItems() const { return PartOfItems(target().MostItems()); }
  int64_t MostItems(double groups, double row) const {
    return PartOfItems(target().MostItems(groups, row));
  }
  int64_t GroupItems() const { return PartOfItems(target().group_items); }
  bool CombinesTuples() const { return facts_.CombinesTuples(); }
  // Receives what rules consider; null where nobody asks.
  Candidates* candidates() const { return candidates_; }
  const std::vector<Directive>& directives() const { return directives_; }

  // The part of the builder that directives change. A rule saves it, tries directives, and may
  // restore it.
  struct State {
    loop_nest::Loops loops;
    std::vector<Directive> directives;
  };
  State Save() const { return {nest_, directives_}; }
  void Restore(const State& state) {
    static_cast<loop_nest::Loops&>(nest_) = state.loops, directives_ = state.directives;
  }

  // Applies directive D to an axis, or to `amount` of it; 0: to all of it. Returns false if it is
  // not legal.
  template <typename D>
  bool Try(size_t axis, int64_t amount = 0) {
    D directive{{nest_.axes[axis].name}};
    if (amount != 0 && amount != Size(axis)) SetAmount(directive, amount);
    return Keep(directive);
  }
  bool Swap(size_t axis, const std::string& other) {
    return Keep(directive::Swap{nest_.axes[axis].name, other});
  }
  bool Neighbours(size_t axis) { return Keep(directive::Neighbours{nest_.axes[axis].name}); }
  bool StageInOutput(size_t axis) { return Keep(directive::StageInOutput{nest_.axes[axis].name}); }
  bool Pad(size_t axis, int64_t size) {
    return Keep(directive::PadTo{nest_.axes[axis].name, size});
  }
  // Applies directive D to `size` steps of an axis. If they do not divide the axis, blocks of
  // `block` steps, a multiple of `size`, overlap (MayOverlap); a symbolic axis is padded to such
  // blocks. Changes nothing if that is not legal.
  template <typename D>
  bool TryBlock(size_t axis, int64_t size, int64_t block = 0) {
    const State before = Save();
    const std::string name = nest_.axes[axis].name;
    const int64_t whole = std::max(size, block);
    const bool fits = IsSymbolic(axis)         ? Pad(axis, whole)
                      : Size(axis) % size != 0 ? Try<directive::Overlap>(axis, whole)
                                               : true;
    if (!fits) return false;
    if (Try<D>(nest_.AxisNamed(name), size)) return true;
    Restore(before);
    return false;
  }
  // Applies `group(axis, other)` or `grouptop`; `other` names the axis of a group's work-items.
  template <typename D>
  bool TryWith(size_t axis, const std::string& other) {
    D directive{{nest_.axes[axis].name}};
    directive.items = other;
    return Keep(directive);
  }

  // The reduce that a base axis belongs to; null for axes of what is stored, and of reduces that
  // `lower` computes without a loop, which must not be scheduled.
  const UOp* ReduceOf(const analysis::BaseAxis& base) const {
    return base.reduce && !facts_.closed().Contains(base.reduce) ? base.reduce : nullptr;
  }
  // Applies `loop` to every axis that is still global and is a part of one of these base axes, the
  // outermost first.
  void LoopAlong(analysis::LoopSet bases);

  // Positions of the axes of one kind, in order, without axes of reduces that need no loop.
  loop_nest::AxisList Axes(AxisKind kind) const;
  int64_t Size(size_t axis) const { return nest_.axes[axis].max_size; }
  bool IsSymbolic(size_t axis) const { return nest_.axes[axis].size.is_symbolic(); }
  // The stride of an access along a scheduled axis; nullopt if the address is not affine in it.
  std::optional<int64_t> Stride(const analysis::Access& a, size_t axis) const;
  // Whether as many loads as `a`'s stride along the axis has elements read the elements between
  // those of `a`, as where four neighbours become one word: together they are as good as contiguous
  // ones.
  bool IsInterleaved(const analysis::Access& a, size_t axis) const;
  // The base axes of the result along which some reduce of the kernel is invariant (bit i: base
  // axis i). A work-item or group that iterates over them computes that reduce once. Reduces of at
  // most Target::short_terms do not count.
  analysis::LoopSet SharedAlong() const;
  // The height of a tile along an axis, at most `most`. It is `divisor`, which divides the axis's
  // size. If `divisor` is at most half of `most`, it is instead the greatest height for which
  // padding the axis is acceptable.
  int64_t TileAlong(size_t axis, int64_t most, int64_t divisor) const;
  // Whether padding `size` steps to blocks of `block` adds at most Target::padding.
  bool PaddingIsAcceptable(int64_t size, int64_t block) const;
  // The most of `size` steps that blocks may repeat when they overlap: twice what padding may add,
  // since repeated steps need no gates.
  int64_t MostRepeated(int64_t size) const;
  // Whether blocks of `block` steps that overlap repeat at most MostRepeated of `size` steps.
  bool RepeatsFew(int64_t size, int64_t block) const;
  // Whether the last of an axis's blocks may overlap the one before.
  bool MayOverlap(size_t axis) const;
  // The lanes of vectors along an axis, a power of two of at most `most`. They divide the axis, or
  // it may overlap and has far fewer vectors then, or it is symbolic and can be padded, and the
  // target has accesses that leave out what is padding.
  int64_t LanesAlong(size_t axis, int64_t most) const;
  // Whether `rows` divides an axis, or pads it with acceptable overhead.
  bool IsTileable(size_t axis, int64_t rows) const;
  // Upcasts a global axis by `rows`, after padding it to a multiple. If padding to several tiles,
  // at most twice Target::tile_side, adds at most a quarter of Target::padding, it does so, so that
  // the tiles can be grouped further.
  bool Upcast(size_t axis, int64_t rows);
  // The number of loads that vary along an axis of a staged value but are invariant along this
  // axis. Upcast rows of results share such loads.
  size_t ReuseAlong(size_t axis) const;
  // Whether this axis of a staged value is the contiguous one in the value's memory.
  bool IsInnermost(size_t axis) const;
  // The number of work-items in the schedule so far: the product of the sizes of global and local
  // axes.
  int64_t WorkItems() const;
  // Whether a part of the same base axis is already upcast, vectorized or unrolled.
  bool HasLanes(size_t axis) const;

 private:
  static void SetAmount(directive::BindPart& part, int64_t amount) { part.size = amount; }
  static void SetAmount(directive::Split& split, int64_t amount) { split.size = amount; }
  static void SetAmount(directive::PadTo& pad, int64_t amount) { pad.size = amount; }
  static void SetAmount(directive::Overlap& overlap, int64_t amount) { overlap.size = amount; }
  static void SetAmount(directive::Group& group, int64_t amount) { group.items = amount; }

  template <typename D>
  bool Keep(const D& directive) {
    if (!directive::Apply(nest_, directive, target()).ok()) return false;
    directives_.push_back(directive::ToText(directive));
    return true;
  }
  bool MayPad(size_t axis) const;
  int64_t PartOfItems(int64_t items) const {
    const auto part = static_cast<int64_t>(static_cast<double>(items) * group_part_);
    return std::clamp<int64_t>(part, target().least_group_items, target().max_group_size);
  }

  KernelFacts& facts_;
  loop_nest::LoopNest nest_;
  Candidates* const candidates_;
  std::vector<Directive> directives_;
  double group_part_ = 1;
};

// The greatest power of two, and the greatest number, that divides n and is at most `limit`.
int64_t PowerOfTwoDivisor(int64_t n, int64_t limit);
int64_t GreatestDivisor(int64_t n, int64_t limit);

}  // namespace tg::schedule

#endif  // TG_PASSES_SCHEDULE_SCHEDULE_BUILDER_H_
