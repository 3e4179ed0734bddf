// A schedule that goes from the pass that chose its directives to the one that applies them.
#include <memory>
#include <utility>

#include "ir/check.h"
#include "ir/walk.h"
#include "llvm/ADT/STLExtras.h"
#include "passes/analysis/kernel_schedule.h"

namespace tg {
namespace {

struct CachedSchedule {
  // What it was made for: nodes do not change, so that the root is the body.
  uint64_t context = 0;
  const UOp* root = nullptr;
  std::vector<Directive> directives;
  std::string target;
  Schedule schedule;
};

// Makes the nodes that the schedule names those of `to`, a copy of `from`.
void MoveTo(Schedule& schedule, const Body& from, const Body& to) {
  NodeMap<const UOp*> same;
  const auto move = [&](const UOp*& u) {
    if (u) u = same.Get(u);
  };
  const auto names = [](const BaseAxis& b) { return !b.IsStored(); };
  if (llvm::none_of(schedule.base, names) && schedule.packed.empty()) return;
  const std::vector<const UOp*> nodes = from.Order(), copies = to.Order();
  TG_CHECK(nodes.size() == copies.size());
  for (size_t i = 0; i < nodes.size(); ++i) same[nodes[i]] = copies[i];
  for (BaseAxis& b : schedule.base) {
    move(b.reduce);
    move(b.staged);
  }
  for (PackedValue& value : schedule.packed) move(value.node);
}

}  // namespace

void CacheSchedule(Kernel& kernel, const Target& target, Schedule schedule, const Body& made_of) {
  // What a variable may be is said elsewhere, and may be said anew.
  const auto is_symbolic = [](const BaseAxis& b) { return b.size.is_symbolic(); };
  if (llvm::any_of(schedule.base, is_symbolic)) return;
  if (&made_of != &kernel.body) MoveTo(schedule, made_of, kernel.body);
  kernel.cached_analysis = std::make_shared<CachedSchedule>(
      CachedSchedule{kernel.body.context->serial(), kernel.body.root, kernel.directives,
                     target.name, std::move(schedule)});
}

absl::StatusOr<Schedule> TakeSchedule(const Module& module, const KernelCalls& calls,
                                      Kernel& kernel, const Target& target, ShapeMap& shapes) {
  const std::shared_ptr<void> kept = std::exchange(kernel.cached_analysis, nullptr);
  auto* known = static_cast<CachedSchedule*>(kept.get());
  if (!known || known->context != kernel.body.context->serial() ||
      known->root != kernel.body.root || known->directives != kernel.directives ||
      known->target != target.name) {
    return MakeSchedule(module, calls, kernel, target, shapes);
  }
  known->schedule.SetCalls(calls, kernel.name);
  return std::move(known->schedule);
}

}  // namespace tg
