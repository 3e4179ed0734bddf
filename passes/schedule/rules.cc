#include "passes/schedule/rules.h"

#include "base/check.h"
#include "llvm/ADT/STLExtras.h"
#include "passes/schedule/candidates.h"

namespace tg::schedule {
namespace {

struct Rule {
  On on;
  void (*propose)(ScheduleBuilder&, Proposals&);
};

// Proposes the schedules of a function that returns whether the kernel has its form.
template <bool (*schedule)(ScheduleBuilder&)>
void ProposeForm(ScheduleBuilder& t, Proposals& to) {
  if (!t.SharedAlong()) ProposeGroups(t, to, [&] { return schedule(t); });
}

constexpr Rule kRules[] = {
#define TG_BODY(on, name, function)
#define TG_RULE(on, function) {On::on, &function},
#define TG_FORM(on, function) {On::on, &ProposeForm<&function>},
#include "passes/schedule/rules.def"
#undef TG_FORM
#undef TG_RULE
#undef TG_BODY
};

}  // namespace

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

double ApplyCheapest(ScheduleBuilder& builder,
                     llvm::function_ref<double(const loop_nest::LoopNest&)> cost) {
  const On on = builder.target().is_gpu    ? On::kUnits
                : builder.CombinesTuples() ? On::kTuplesOnCores
                                           : On::kCores;
  const ScheduleBuilder::State start = builder.Save();
  Proposals proposals(builder, cost);
  for (const Rule& rule : kRules) {
    if (rule.on != on) continue;
    rule.propose(builder, proposals);
    builder.Restore(start);
  }
  TG_CHECK(!proposals.empty());
  builder.Restore(proposals.best());
  return proposals.seconds();
}

}  // namespace tg::schedule
