// Schedule: a kernel's axes after its opts, and each original axis in terms of them.
//
// Opts name axes, never positions. `split(i0, 4)` replaces i0 by i0.0 (outer) and i0.1 (inner, 4);
// an opt with an amount, such as `upcast(i0, 4)`, splits and then marks the inner axis; without one
// it marks the whole axis, which keeps its name. `optimize` checks and chooses opts, `lower`
// applies them; both do it through this analysis, so an opt is defined here alone (kOpts in
// opts.cc).
#ifndef TG_PASSES_ANALYSIS_SCHEDULE_H_
#define TG_PASSES_ANALYSIS_SCHEDULE_H_

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
#include "passes/analysis/kernel_axes.h"
#include "passes/analysis/loop_sets.h"
#include "passes/analysis/places.h"
#include "passes/target.h"

namespace tg {

struct ScheduledAxis {
  std::string name;
  Dim size;
  int64_t max_size = 0;
  AxisKind kind = AxisKind::kGlobal;
  int grid_dim = -1;       // set by opt `grid`
  bool own_loops = false;  // of a loop: stores and staged values have their own (`distribute`)
  int64_t stores = 1;      // of a global axis: so many stores have groups of their own along it
  int64_t dealt = 0;       // of the two axes that an axis of so many steps was dealt to (`deal`)
  std::string shares;      // of a group axis: the local or other group axis whose work-items it is
  size_t base = 0;         // the axis in Schedule::base that it is a part of
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
  std::vector<StagedInStep> in_step;
  std::vector<bool> padded;  // by base axis: its digits reach beyond its size
  bool no_locals = false;
  std::vector<int64_t> read;     // the arguments that it reads
  std::vector<int64_t> written;  // and those that it writes
  const KernelCalls* calls = nullptr;
  std::string kernel;  // its name
  size_t stores = 1;

  // Whether the kernel reads what it writes, through one argument or where a call gives it one
  // buffer as two.
  bool IsInPlace() const {
    if (!in_place_) in_place_ = FindInPlace();
    return *in_place_;
  }
  // Whose calls it asks, under the kernel's name now.
  void SetCalls(const KernelCalls& all, std::string_view name) {
    calls = &all;
    kernel = name;
    in_place_.reset();
  }
  // The axes of a reduce or a staged value, as positions in `axes`.
  AxisList AxesOf(const UOp* node) const;
  // The stored base axes that a staged value is made anew for.
  LoopSet VariesOf(const UOp* staged) const;
  std::vector<Axis> ToAxes() const;
  int64_t GroupSize() const;   // work-items a group: local and group axes
  int64_t UpcastSize() const;  // upcast and vector axes
  // What staged values take for one row of results.
  int64_t StagedBytes() const;
  // What a group's work-items take for what they share: parts of reduces, staged values.
  int64_t LocalBytes() const;
  // Position in `axes`; -1 where there is none of that name.
  int FindAxis(std::string_view name) const;

 private:
  bool FindInPlace() const;
  mutable std::optional<bool> in_place_;
};

struct OptKind {
  std::string_view name;
  std::string_view usage;  // "upcast(AXIS[, N])"
  std::string_view doc;
};
std::span<const OptKind> OptKinds();

// Applies `kernel.opts` in order to the axes of its body (Stage::kKernel). An opt that is unknown
// or not legal is an error that names it and says why. The schedule goes on asking `calls`.
absl::StatusOr<Schedule> MakeSchedule(const Module& module, const KernelCalls& calls,
                                      const Kernel& kernel, const Target& target, ShapeMap& shapes);

// Keeps in `kernel` the schedule that its body and opts make, for who next asks TakeSchedule.
// `made_of`: the body whose nodes it names, this one or a copy of it.
void KeepSchedule(Kernel& kernel, const Target& target, Schedule schedule, const Body& made_of);
// MakeSchedule, or what was kept, which it takes, if body, opts and target are still the same.
absl::StatusOr<Schedule> TakeSchedule(const Module& module, const KernelCalls& calls,
                                      Kernel& kernel, const Target& target, ShapeMap& shapes);

// Applies one more opt; on error the schedule is as it was.
absl::Status ApplyOpt(Schedule& schedule, const Opt& opt, const Target& target);
// The same for an opt that a kernel is given: on error the schedule is of no more use.
absl::Status ApplyGivenOpt(Schedule& schedule, const Opt& opt, const Target& target);

std::string OptText(const Opt& opt);  // "local(i0, 4)"

}  // namespace tg

#endif  // TG_PASSES_ANALYSIS_SCHEDULE_H_
