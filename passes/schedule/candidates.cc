#include "passes/schedule/candidates.h"

#include "absl/strings/str_cat.h"
#include "llvm/ADT/STLExtras.h"
#include "passes/directives/directives.h"
#include "passes/schedule/kernel_facts.h"

namespace tg::schedule {
namespace {

std::string Text(const std::vector<Directive>& directives) {
  std::string text;
  for (const Directive& directive : directives) {
    absl::StrAppend(&text, text.empty() ? "" : ", ", directive::DirectiveText(directive));
  }
  return text.empty() ? "no directives" : text;
}

}  // namespace

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

std::string Candidates::Explain(const Module& module, const KernelCalls& calls,
                                const Kernel& kernel, const passes::Target& target) const {
  const auto cost_of = [&](const Kernel& k) -> std::string {
    const absl::StatusOr<cost::Cost> cost = KernelCost(module, calls, k, target);
    return cost.ok() ? cost->Text() : std::string(cost.status().message());
  };
  std::string text =
      absl::StrCat("@", kernel.name, ": ", Text(kernel.directives), "\n  ", cost_of(kernel), "\n");
  for (const auto& [rank, directives] : schedules_) {
    if (directives == kernel.directives) continue;
    Kernel other;
    other.name = kernel.name;
    other.directives = directives;
    CloneBody(kernel.body, other.body);
    absl::StrAppend(&text, "  candidate ", Text(directives), "\n    ", cost_of(other), "\n");
  }
  return text;
}

}  // namespace tg::schedule
