// The table of rules that propose schedules, and the choice among what they propose.
//
// A rule knows how to write a schedule of some form and where it is legal. It has no measure of
// time: which proposal is best is a matter of passes/cost.
#ifndef TG_PASSES_SCHEDULE_RULES_H_
#define TG_PASSES_SCHEDULE_RULES_H_

#include <limits>
#include <optional>
#include <vector>

#include "llvm/ADT/STLFunctionalExtras.h"
#include "passes/schedule/schedule_builder.h"

namespace tg::schedule {

// Target::prediction_error for schedules that differ in the order of their steps alone.
inline constexpr double kOrderError = 0.05;

// The schedules that rules have proposed for a kernel, and the cheapest of them.
class Proposals {
 public:
  // `cost`: the predicted seconds of a nest. Both must outlive the object. `error`:
  // Target::prediction_error if it is left out.
  Proposals(ScheduleBuilder& builder, llvm::function_ref<double(const loop_nest::LoopNest&)> cost,
            std::optional<double> error = std::nullopt)
      : builder_(builder), cost_(cost), error_(error.value_or(builder.target().prediction_error)) {}

  // Takes the builder's schedule as it is. A later proposal must be cheaper than an earlier one by
  // more than the error, so that rules propose first what is best by experience.
  void Add();

  // Of the schedules that `propose(Proposals&)` adds, which differ in one part, leaves the cheapest
  // in the builder. Returns false if there is none.
  template <typename F>
  bool Choose(F propose, std::optional<double> error = std::nullopt) const {
    Proposals some(builder_, cost_, error);
    propose(some);
    if (!some.empty()) builder_.Restore(some.best());
    return !some.empty();
  }

  bool empty() const { return !best_; }
  // Whether the builder's schedule is the cheapest so far.
  bool IsBest() const { return best_ && best_->directives == builder_.directives(); }
  // The least cost in seconds, infinite if there is no proposal, and its schedule.
  double seconds() const { return seconds_; }
  const ScheduleBuilder::State& best() const { return *best_; }

 private:
  ScheduleBuilder& builder_;
  const llvm::function_ref<double(const loop_nest::LoopNest&)> cost_;
  const double error_;
  std::vector<std::vector<Directive>> known_;
  std::optional<ScheduleBuilder::State> best_;
  double seconds_ = std::numeric_limits<double>::infinity();
};

// Proposes what `schedule()` leaves in the builder, for groups of the usual number of work-items
// and then for smaller ones. It returns whether the kernel has its form.
template <typename F>
void ProposeGroups(ScheduleBuilder& t, Proposals& to, F schedule) {
  const ScheduleBuilder::State start = t.Save();
  for (const double part : {1.0, 0.5, 0.25}) {
    t.SetGroupPart(part);
    const bool has_form = schedule();
    if (has_form) to.Add();
    t.Restore(start);
    if (!has_form && part == 1) break;
  }
  t.SetGroupPart(1);
}

// What runs the loops, as rules.def says it.
enum class On : uint8_t { kCores, kTuplesOnCores, kUnits };

// What a rule of bodies is asked.
struct BodyRequest {
  const Module& module;
  const KernelCalls& calls;
  KernelFacts& plain;     // of the kernel as it is
  size_t considered = 0;  // how many `others` are wanted
};

// Schedules of another body, each the list of its directives.
struct BodySchedules {
  // Of these the cheapest is chosen, of equally good ones the first. None: what the rules without a
  // body propose for this one.
  std::vector<std::vector<Directive>> schedules;
  // Further ones, for people who ask and for searches.
  std::vector<std::vector<Directive>> others;
  // The rule knows that this body is faster: no other one is considered. For what predictions do
  // not see.
  bool is_certain = false;
};

// The rules of rules.def. Each applies directives to the builder's schedule, which is empty at
// first. What it leaves in the builder is discarded. A rule of bodies writes another body into the
// kernel. Without a result the kernel has no such body; then it may have changed, and the caller
// restores the root.
#define TG_BODY(on, name, function) \
  std::optional<BodySchedules> function(const BodyRequest& request, Kernel& kernel);
#define TG_RULE(on, function) void function(ScheduleBuilder& t, Proposals& to);
#define TG_FORM(on, function) bool function(ScheduleBuilder& t);
#include "passes/schedule/rules.def"
#undef TG_FORM
#undef TG_RULE
#undef TG_BODY

// Leaves the cheapest proposal of the rules for its target in the builder, and returns its cost in
// seconds.
double ApplyCheapest(ScheduleBuilder& builder,
                     llvm::function_ref<double(const loop_nest::LoopNest&)> cost);

}  // namespace tg::schedule

#endif  // TG_PASSES_SCHEDULE_RULES_H_
