// One opt being applied to a schedule.
#ifndef TG_PASSES_ANALYSIS_OPT_APPLIER_H_
#define TG_PASSES_ANALYSIS_OPT_APPLIER_H_

#include <cstdint>
#include <initializer_list>
#include <string>

#include "absl/status/status.h"
#include "passes/analysis/schedule.h"

namespace tg {

// That the opt cannot be applied, and why.
absl::Status IllegalOpt(const Opt& opt, const std::string& why);

// A method for each kind of opt, which changes axes, digits, `padded` and `no_locals`. One that
// fails leaves them half changed: ApplyOpt puts back what they were.
class OptApplier {
 public:
  OptApplier(Schedule& s, const Opt& opt, const Target& target)
      : s_(s), opt_(opt), target_(target) {}

  absl::Status Split();
  absl::Status Upcast();
  absl::Status Vectorize();
  absl::Status Unroll();
  absl::Status Loop();
  absl::Status Deal();
  absl::Status Distribute();
  absl::Status Local();
  absl::Status Group();
  absl::Status GroupTop();
  absl::Status PadTo();
  absl::Status Swap();
  absl::Status Grid();
  absl::Status NoLocals();

  // A grid and a group have three dimensions. Axes that share one must be neither a group axis nor
  // bound to a dimension.
  absl::Status CheckDimensions();
  absl::Status CheckLocalMemory();

 private:
  absl::Status FindAxis(const OptArg& arg, size_t& axis);

  // The axis and the amount; an amount that is missing or 0 gives the axis's whole size.
  absl::Status Operands(size_t& axis, int64_t* n, bool need_amount);

  // Splits the named axis; `inner` (or the outer part with `outer_is_n`) gets `n`. Gives the axis
  // of that size in *marked, the whole axis where the amount covers it.
  absl::Status SplitAxis(bool outer_is_n, size_t* marked);
  // Replaces the axis by two, the inner one of size `inner`.
  void SplitInto(size_t axis, int64_t outer, int64_t inner);
  absl::Status RefuseAfterDistribute();
  // Gives each store groups of its own along a global axis.
  absl::Status DistributeGroups(size_t axis);

  // Whether the axis may be split or marked as it stands.
  absl::Status CheckParts(const ScheduledAxis& whole);
  absl::Status CheckSplit(const ScheduledAxis& whole);

  void MoveTo(size_t axis, AxisKind to);
  absl::Status Mark(std::initializer_list<AxisKind> from, AxisKind to, int64_t limit);
  absl::Status MarkGroup();

  // The work-items along a local axis, or those that share another reduce, over which the reduce,
  // or what is staged, does not vary.
  absl::Status MarkShared();
  absl::Status NeedLocals();
  absl::Status CheckGroup();

  // Axis numbers held in digits follow.
  void Insert(size_t at, ScheduledAxis axis);

  Schedule& s_;
  const Opt& opt_;
  const Target& target_;
  int64_t amount_ = 0;  // stands for the second argument where that is no number
};

}  // namespace tg

#endif  // TG_PASSES_ANALYSIS_OPT_APPLIER_H_
