// Schedule: a kernel's axes after its scheduling directives, and each original axis as a
// combination of the new ones.
//
// Opts refer to axes by name, never by position. `split(i0, 4)` replaces i0 by i0.0 (outer) and
// i0.1 (inner, size 4). A directive with an amount, such as `upcast(i0, 4)`, splits and then marks
// the inner axis. Without an amount it marks the whole axis, which keeps its name. `schedule`
// checks and chooses directives and `lower` applies them, both through this analysis, so that each
// directive is defined once (kDirectives in directives.cc).
#ifndef TG_PASSES_ANALYSIS_KERNEL_SCHEDULE_H_
#define TG_PASSES_ANALYSIS_KERNEL_SCHEDULE_H_

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "ir/kernel_calls.h"
#include "ir/module.h"
#include "llvm/ADT/SmallVector.h"
#include "passes/analysis/dependence.h"
#include "passes/analysis/kernel_axes.h"
#include "passes/analysis/loop_sets.h"
#include "passes/target.h"

namespace tg {

struct ScheduledAxis {
  std::string name;
  Dim size;
  int64_t max_size = 0;
  AxisKind kind = AxisKind::kGlobal;
  int grid_dim = -1;   // set by directive `grid`
  std::string shares;  // for a group axis: the local or group axis whose work-items it reuses
  size_t base = 0;     // the axis in Schedule::base that it is a part of
};

// One term of a base axis: `axes[axis] * stride`. Outer ones come first.
struct Digit {
  size_t axis = 0;
  int64_t stride = 1;
};

// Positions in Schedule::axes.
using AxisList = llvm::SmallVector<size_t, 8>;

struct Schedule {
  std::vector<BaseAxis> base;
  std::vector<ScheduledAxis> axes;                  // in the order of the kernel's name
  std::vector<llvm::SmallVector<Digit, 3>> digits;  // by base axis
  std::vector<LoopSet> varies;                      // by base axis: Dependence
  std::vector<PackedValue> packed;
  std::vector<bool> padded;  // by base axis: whether its digits exceed its size
  // By base axis: whether it is an axis of a reduce whose partial results can be kept in what the
  // kernel stores, so that a part of the axis may be a loop around the results.
  std::vector<bool> accumulates;
  std::vector<bool> read_once;  // by base axis: whether it is of a reduce that is read at one index
  std::vector<LoopSet> held_by_output;  // by base axis: FindOutputStaging
  // The first base axis of the staged value that the output holds until the results replace it.
  std::optional<size_t> in_output;
  bool no_locals = false;
  std::vector<int64_t> read;     // the arguments that the kernel reads
  std::vector<int64_t> written;  // the arguments that the kernel writes
  const KernelCalls* calls = nullptr;
  std::string kernel;  // the kernel's name
  size_t stores = 1;

  // Whether the kernel reads memory that it writes: through one argument, or because some call
  // passes one buffer as two arguments.
  bool IsInPlace() const {
    if (!in_place_) in_place_ = FindInPlace();
    return *in_place_;
  }
  // Sets the calls that IsInPlace() inspects, and the kernel's current name.
  void SetCalls(const KernelCalls& all, std::string_view name) {
    calls = &all;
    kernel = name;
    in_place_.reset();
  }
  // The axes of a reduce or a staged value, as positions in `axes`.
  AxisList AxesOf(const UOp* node) const;
  // The stored base axes along which a value that has staged axes is recomputed.
  LoopSet VariesOf(const UOp* staged) const;
  std::vector<Axis> ToAxes() const;
  int64_t GroupSize() const;   // work-items a group: local and group axes
  int64_t UpcastSize() const;  // upcast and vector axes
  // Memory of staged values for one row of results.
  int64_t StagedBytes() const;
  // Local memory of a group: partial results of reduces, shared staged values and packed values.
  int64_t LocalBytes() const;
  // Whether `axis` lies inside each step of the axis at `at`, in the same work-item.
  bool IsInside(size_t axis, size_t at) const;
  // Whether the copy of a packed value has an element for each step of the axis.
  bool IsCopied(const PackedValue& value, size_t axis) const;
  // Memory of a work-item for packed values, or that of a group for those in local memory.
  int64_t PackedBytes(bool in_local_memory = false) const;
  // Bytes that may be left free behind each row of a copy in local memory, so that a column that is
  // filled at once is not in one bank. A row has the elements for one term of a reduce.
  static constexpr int64_t kRowPadding = 16;
  // Whether this is a loop over blocks of a reduce's terms, around results.
  bool IsReduceLoop(size_t axis) const {
    return axes[axis].kind == AxisKind::kLoop && base[axes[axis].base].reduce != nullptr;
  }
  // Position in `axes`; -1 if no axis has that name.
  int FindAxis(std::string_view name) const;

 private:
  bool FindInPlace() const;
  int64_t CopyBytes(const PackedValue& value) const;
  mutable std::optional<bool> in_place_;
};

struct DirectiveKind {
  std::string_view name;
  std::string_view usage;  // "upcast(AXIS[, N])"
  std::string_view doc;
};
std::span<const DirectiveKind> DirectiveKinds();

// Applies `kernel.directives` in order to the axes of its body (Stage::kKernel). An unknown or
// illegal directive is an error with the directive and the reason. The schedule keeps a reference
// to `calls`.
absl::StatusOr<Schedule> MakeSchedule(const Module& module, const KernelCalls& calls,
                                      const Kernel& kernel, const Target& target, ShapeMap& shapes);

// Caches in `kernel` the schedule of its body and directives for the next TakeSchedule. `made_of`:
// the body whose nodes the schedule refers to, the kernel's body or a copy of it.
void CacheSchedule(Kernel& kernel, const Target& target, Schedule schedule, const Body& made_of);
// Moves the cached schedule out of `kernel` if body, directives and target are unchanged; otherwise
// calls MakeSchedule.
absl::StatusOr<Schedule> TakeSchedule(const Module& module, const KernelCalls& calls,
                                      Kernel& kernel, const Target& target, ShapeMap& shapes);

// Applies one more directive; on error the schedule is unchanged.
absl::Status ApplyDirective(Schedule& schedule, const Directive& directive, const Target& target);
// The same without the rollback: after an error the schedule is invalid.
absl::Status ApplyGivenDirective(Schedule& schedule, const Directive& directive,
                                 const Target& target);

std::string DirectiveText(const Directive& directive);  // "local(i0, 4)"

}  // namespace tg

#endif  // TG_PASSES_ANALYSIS_KERNEL_SCHEDULE_H_
