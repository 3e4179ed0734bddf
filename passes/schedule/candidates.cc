#include "passes/schedule/candidates.h"

#include "llvm/ADT/STLExtras.h"

namespace tg::schedule {

void Candidates::Add(double rank, std::vector<Directive> directives) {
  for (const auto& [other, same] : schedules_) {
    if (same == directives) return;
  }
  const auto at = llvm::upper_bound(
      schedules_, rank, [](double r, const auto& schedule) { return r < schedule.first; });
  schedules_.emplace(at, rank, std::move(directives));
  if (schedules_.size() > most_) schedules_.pop_back();
}

std::vector<std::vector<Directive>> Candidates::Schedules() const {
  std::vector<std::vector<Directive>> schedules;
  for (const auto& [rank, directives] : schedules_) schedules.push_back(directives);
  return schedules;
}

}  // namespace tg::schedule
