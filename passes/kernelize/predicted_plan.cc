#include "passes/kernelize/predicted_plan.h"

#include <limits>
#include <string>
#include <utility>

#include "passes/analysis/structural_key.h"
#include "passes/schedule/schedule.h"

namespace tg::kernelize {

PredictedPlan PlanPredictor::Plan(const FusionChoices& choices) {
  NodeMap<UseList> read_uses;
  PredictedPlan planned;
  planned.plan = PlanMaterialization(graph_, choices, uses_, read_uses);
  std::vector<size_t> unknown;
  for (const Realized& r : planned.plan.realized) {
    if (graph_.joint.LeaderOf(r.node) != r.node) continue;
    bool is_new = false;
    PredictedKernel kernel = Draft(planned.plan, r.node, &is_new);
    if (kernel.draft.copy) continue;
    for (const UOp* u : kernel.draft.inputs) planned.users[u].push_back(planned.kernels.size());
    if (is_new) unknown.push_back(planned.kernels.size());
    planned.kernels.push_back(std::move(kernel));
  }
  const auto predict = [&](size_t i) {
    const PredictedKernel& kernel = planned.kernels[unknown[i]];
    seconds_[kernel.body] = Predict(kernel);
  };
  if (workers_) {
    workers_->ForEach(unknown.size(), predict);
  } else {
    for (size_t i = 0; i < unknown.size(); ++i) predict(i);
  }
  for (const PredictedKernel& kernel : planned.kernels) planned.seconds += SecondsOf(kernel);
  return planned;
}

double PlanPredictor::SecondsOf(const MaterializationPlan& plan, const UOp* node) {
  bool is_new = false;
  const PredictedKernel kernel = Draft(plan, node, &is_new);
  if (is_new) seconds_[kernel.body] = Predict(kernel);
  return SecondsOf(kernel);
}

double PlanPredictor::SecondsBeyond(const PredictedPlan& plan, const PredictedPlan& other) const {
  std::vector<int> times(seconds_.size());
  for (const PredictedKernel& kernel : other.kernels) ++times[kernel.body];
  double seconds = 0;
  for (const PredictedKernel& kernel : plan.kernels) {
    if (--times[kernel.body] < 0) seconds += SecondsOf(kernel);
  }
  return seconds;
}

PredictedKernel PlanPredictor::Draft(const MaterializationPlan& plan, const UOp* node,
                                     bool* is_new) {
  PredictedKernel out;
  KernelDraft& draft = out.draft;
  draft = DraftKernel(graph_.module, graph_.body, graph_.shapes, plan, graph_.joint.Members(node),
                      numbers_);
  if (draft.copy) return out;
  const std::string key =
      draft.key.empty() ? analysis::StructuralKey(draft.kernel->body, draft.kernel->body.Order())
                        : draft.key;
  const auto [known, added] = bodies_.try_emplace(key, bodies_.size());
  out.body = known->second;
  *is_new = added;
  if (added) {
    seconds_.push_back(0);
    BuildKernel(graph_.module, graph_.body, graph_.shapes, plan, draft);
  }
  return out;
}

double PlanPredictor::Predict(const PredictedKernel& kernel) const {
  const absl::StatusOr<cost::Cost> cost =
      schedule::ChosenCost(graph_.module, calls_, *kernel.draft.kernel, graph_.target);
  return cost.ok() ? cost->Total() : std::numeric_limits<double>::infinity();
}

}  // namespace tg::kernelize
