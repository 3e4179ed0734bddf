// The table of rules that propose schedules, and the choice among what they propose.
//
// A rule knows how to write a schedule of some form and where it is legal. It has no measure of
// time: which proposal is best is a matter of passes/cost.
#ifndef TG_PASSES_SCHEDULE_RULES_H_
#define TG_PASSES_SCHEDULE_RULES_H_

#include <limits>
#include <optional>
#include <span>
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

struct Rule {
  // Applies directives to the builder's schedule, which is empty at first, and adds each whole
  // schedule to the proposals; none where the kernel does not have the rule's form. What it leaves
  // in the builder is discarded.
  void (*propose)(ScheduleBuilder&, Proposals&);
};

// The rules for each kind of device, the most special first. Some of the last ones fits each
// kernel.
extern const std::span<const Rule> kGpuRules, kCpuRules;

// Leaves the cheapest proposal of these rules in the builder, and returns its cost in seconds.
double ApplyCheapest(std::span<const Rule> rules, ScheduleBuilder& builder,
                     llvm::function_ref<double(const loop_nest::LoopNest&)> cost);

}  // namespace tg::schedule

#endif  // TG_PASSES_SCHEDULE_RULES_H_
