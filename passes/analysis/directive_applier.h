// DirectiveApplier: applies one directive to a schedule.
#ifndef TG_PASSES_ANALYSIS_DIRECTIVE_APPLIER_H_
#define TG_PASSES_ANALYSIS_DIRECTIVE_APPLIER_H_

#include <cstdint>
#include <initializer_list>
#include <string>

#include "absl/status/status.h"
#include "passes/analysis/kernel_schedule.h"

namespace tg {

// The error that `directive` cannot be applied, with the reason.
absl::Status IllegalDirective(const Directive& directive, const std::string& why);

// Has one method per kind of directive, which changes the schedule's axes, digits, `padded`,
// `packed`, `in_output` and `no_locals`. A method that fails may leave them half changed;
// ApplyDirective restores them.
class DirectiveApplier {
 public:
  DirectiveApplier(Schedule& s, const Directive& directive, const Target& target)
      : s_(s), directive_(directive), target_(target) {}

  absl::Status Split();
  absl::Status Upcast();
  absl::Status Vectorize();
  absl::Status Unroll();
  absl::Status Loop();
  absl::Status Local();
  absl::Status Group();
  absl::Status GroupTop();
  absl::Status Pack();
  absl::Status StageInOutput();
  absl::Status PadTo();
  absl::Status Swap();
  absl::Status Grid();
  absl::Status NoLocals();

  // A grid and a group have three dimensions. Axes that share a dimension must not be group axes
  // and must not be bound to a dimension by a directive.
  absl::Status CheckDimensions();
  absl::Status CheckLocalMemory();
  absl::Status CheckPackedMemory();
  // A value that is staged in the output needs its results' axes to be the innermost loops.
  absl::Status CheckOutputStaging();

 private:
  absl::Status FindAxis(const DirectiveArg& arg, size_t& axis);

  // Reads the axis and the amount. A missing or zero amount means the axis's whole size.
  absl::Status Operands(size_t& axis, int64_t* n, bool need_amount);

  // Splits the named axis by the amount, which becomes the size of the inner axis, or of the outer
  // one with `outer_is_n`. *marked receives the axis of that size: the whole axis if the amount
  // covers it.
  absl::Status SplitAxis(bool outer_is_n, size_t* marked);
  // Replaces the axis by two, the inner one of size `inner`.
  void SplitInto(size_t axis, int64_t outer, int64_t inner);
  absl::Status RefuseAfterReduceLoop();

  // Fails if the axis cannot be split or marked in its current state.
  absl::Status CheckParts(const ScheduledAxis& whole);
  absl::Status CheckSplit(const ScheduledAxis& whole);

  void MoveTo(size_t axis, AxisKind to);
  absl::Status Mark(std::initializer_list<AxisKind> from, AxisKind to, int64_t limit);
  absl::Status MarkGroup();

  // Marks a reduce or staged axis as a group axis that reuses the work-items of a local axis or of
  // another group axis. The reduce or staged value must be invariant along that axis.
  absl::Status MarkShared();
  // Fails if a reduce axis cannot be a loop around results.
  absl::Status CheckReduceLoop(size_t axis);
  // Fails if what is read of the value in a step of a reduce's axis is not known before the step.
  absl::Status CheckPackInReduce(const PackedValue& value, size_t at);
  absl::Status NeedLocals();
  absl::Status CheckGroup();

  // Inserts an axis and renumbers the axes that digits refer to.
  void Insert(size_t at, ScheduledAxis axis);

  Schedule& s_;
  const Directive& directive_;
  const Target& target_;
  int64_t amount_ = 0;  // used if the second argument is not a number
};

}  // namespace tg

#endif  // TG_PASSES_ANALYSIS_DIRECTIVE_APPLIER_H_
