#include "passes/schedule/rules.h"

#include "base/check.h"
#include "llvm/ADT/STLExtras.h"
#include "passes/schedule/candidates.h"

namespace tg::schedule {

void Proposals::Add() {
  const std::vector<Directive>& directives = builder_.directives();
  if (llvm::is_contained(known_, directives)) return;
  known_.push_back(directives);
  const double seconds = cost_(builder_.nest());
  if (builder_.candidates()) builder_.candidates()->Add(seconds, directives);
  if (best_ && seconds >= seconds_ * (1 - error_)) return;
  best_ = builder_.Save();
  seconds_ = seconds;
}

double ApplyCheapest(std::span<const Rule> rules, ScheduleBuilder& builder,
                     llvm::function_ref<double(const loop_nest::LoopNest&)> cost) {
  const ScheduleBuilder::State start = builder.Save();
  Proposals proposals(builder, cost);
  for (const Rule& rule : rules) {
    rule.propose(builder, proposals);
    builder.Restore(start);
  }
  TG_CHECK(!proposals.empty());
  builder.Restore(proposals.best());
  return proposals.seconds();
}

}  // namespace tg::schedule
