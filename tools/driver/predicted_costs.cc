#include "tools/driver/predicted_costs.h"

#include "ir/kernel_calls.h"
#include "passes/schedule/kernel_facts.h"
#include "passes/schedule/schedule.h"

namespace tg::driver {

absl::Status PredictedCosts::AfterPass(const passes::PassRun& run, const Module& module) {
  if (run.step().pass != &schedule::kSchedulePass) return absl::OkStatus();
  const KernelCalls calls(module);
  for (const auto& kernel : module.kernels) {
    if (kernel->stage != Stage::kKernel) continue;
    absl::StatusOr<cost::Cost> cost = schedule::KernelCost(module, calls, *kernel, run.target);
    if (!cost.ok()) return cost.status();
    costs_.insert_or_assign({run.target.name, kernel->name}, *std::move(cost));
  }
  return absl::OkStatus();
}

const cost::Cost* PredictedCosts::Find(std::string_view target, std::string_view kernel) const {
  const auto found = costs_.find(std::pair(std::string(target), std::string(kernel)));
  return found == costs_.end() ? nullptr : &found->second;
}

std::optional<PredictedCosts::GraphCost> PredictedCosts::Of(const Graph& graph,
                                                            std::string_view target) const {
  GraphCost all;
  double longest = -1;
  for (const UOp* u : graph.body.Order()) {
    if (u->op != Op::kKernel) continue;
    const cost::Cost* cost =
        Find(target, graph.body.context->String(static_cast<StringId>(u->attr.bits)));
    if (!cost) return std::nullopt;
    all.seconds += cost->Total();
    if (cost->Total() > longest) {
      longest = cost->Total();
      all.limit = cost->Limit();
    }
  }
  return all;
}

}  // namespace tg::driver
