// The table of rules that propose schedules, and the choice among what they propose.
//
// A rule knows how to write a schedule of some form and where it is legal. It has no measure of
// time: which proposal is best is a matter of passes/cost.
#ifndef TG_PASSES_SCHEDULE_RULES_H_
#define TG_PASSES_SCHEDULE_RULES_H_

#include <optional>
#include <span>
#include <vector>

#include "llvm/ADT/STLFunctionalExtras.h"
#include "passes/schedule/schedule_builder.h"

namespace tg::schedule {

// The part of a cost by which predictions of one kernel's schedules are off, in the middle.
inline constexpr double kPredictionError = 0.25;

// The schedules that rules have proposed for a kernel, and the cheapest of them.
class Proposals {
 public:
  // `cost`: the predicted seconds of a nest. Both must outlive the object.
  Proposals(ScheduleBuilder& builder, llvm::function_ref<double(const loop_nest::LoopNest&)> cost)
      : builder_(builder), cost_(cost) {}

  // Takes the builder's schedule as it is. A later proposal must be cheaper than an earlier one by
  // more than kPredictionError, so that rules propose first what is best by experience.
  void Add();

  bool empty() const { return !best_; }
  // The least cost in seconds, and its schedule. There must be a proposal.
  double seconds() const { return seconds_; }
  const ScheduleBuilder::State& best() const { return *best_; }

 private:
  ScheduleBuilder& builder_;
  const llvm::function_ref<double(const loop_nest::LoopNest&)> cost_;
  std::vector<std::vector<Directive>> known_;
  std::optional<ScheduleBuilder::State> best_;
  double seconds_ = 0;
};

struct Rule {
  // Applies directives to the builder's schedule, which is empty at first, and adds each whole
  // schedule to the proposals; none where the kernel does not have the rule's form. What it leaves
  // in the builder is discarded.
  void (*propose)(ScheduleBuilder&, Proposals&);
};

// The rules for one kind of device, the most special first. The last ones fit each kernel.
extern const std::span<const Rule> kGpuRules;

// Leaves the cheapest proposal of these rules in the builder, and returns its cost in seconds.
double ApplyCheapest(std::span<const Rule> rules, ScheduleBuilder& builder,
                     llvm::function_ref<double(const loop_nest::LoopNest&)> cost);

}  // namespace tg::schedule

#endif  // TG_PASSES_SCHEDULE_RULES_H_
