#include "passes/kernelize/predicted_splits.h"

#include <limits>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ir/kernel_calls.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "passes/analysis/structural_key.h"
#include "passes/kernelize/contractions.h"
#include "passes/kernelize/kernel_body.h"
#include "passes/schedule/schedule.h"

namespace tg::kernelize {
namespace {

// Limit on the plans that are made to see what a split changes.
constexpr int kMostTrials = 16;

// A kernel of a plan. Those of equal keys have equal bodies.
struct PlannedKernel {
  KernelDraft draft;
  std::string key;
};
struct Planned {
  MaterializationPlan plan;
  std::vector<PlannedKernel> kernels;
};

class Splitter {
 public:
  Splitter(const Module& module, const Body& body, ShapeMap& shapes, const passes::Target& target,
           const MaterializationOptions& options, const NodeSet& fused, UOpSpan order)
      : module_(module),
        calls_(module),
        body_(body),
        shapes_(shapes),
        target_(target),
        options_(options),
        fused_(fused),
        order_(order) {}

  StoredByPrediction Run() {
    StoredByPrediction stored;
    Planned planned = Plan(stored);
    int trials = 0;
    for (size_t i = 0; i < planned.kernels.size() && trials < kMostTrials; ++i) {
      const PlannedKernel& kernel = planned.kernels[i];
      const std::vector<const UOp*> values = Inside(planned.plan, kernel.draft);
      if (values.empty() || !judged_.insert(kernel.key).second) continue;
      const std::vector<size_t> split = BetterStored(planned.plan, kernel, values);
      if (split.empty()) continue;
      ++trials;
      StoredByPrediction more = stored;
      for (const PlannedKernel& other : planned.kernels) {
        if (other.key != kernel.key) continue;
        const std::vector<const UOp*> its = Inside(planned.plan, other.draft);
        for (size_t k : split) more.insert(its[k]);
      }
      Planned trial = Plan(more);
      // The planner may decide otherwise about other values too.
      if (SecondsBeyond(trial, planned) >= SecondsBeyond(planned, trial)) continue;
      stored = std::move(more);
      planned = std::move(trial);
      i = static_cast<size_t>(-1);  // starts again, since the kernels have changed
    }
    return stored;
  }

 private:
  PlannedKernel Draft(const MaterializationPlan& plan, std::vector<const UOp*> nodes) {
    KernelDraft draft = DraftKernel(module_, body_, shapes_, plan, std::move(nodes), numbers_);
    std::string key = draft.key;
    if (key.empty() && draft.kernel) {
      key = analysis::StructuralKey(draft.kernel->body, draft.kernel->body.Order());
    }
    return {std::move(draft), std::move(key)};
  }

  Planned Plan(const StoredByPrediction& stored) {
    UseTable uses(module_, *body_.context, shapes_);
    NodeMap<UseList> read_uses;
    Planned planned;
    planned.plan = PlanMaterialization(module_, body_, shapes_, uses, target_, options_, fused_,
                                       stored, read_uses, order_);
    for (const Realized& r : planned.plan.realized) {
      planned.kernels.push_back(Draft(planned.plan, {r.node}));
      if (planned.kernels.back().draft.copy) planned.kernels.pop_back();
    }
    return planned;
  }

  // Reduces and staged values inside a kernel, without what must stay there; none unless there are
  // several, or one that is staged, or a contraction that has fewer elements than the kernel's
  // value: the schedule of a contraction computes these again.
  std::vector<const UOp*> Inside(const MaterializationPlan& plan, const KernelDraft& draft) const {
    const UOp* const node = draft.nodes[0];
    std::vector<const UOp*> values;
    size_t staged = 0;
    NodeSet seen;
    llvm::SmallVector<const UOp*, 32> stack = {ComputedValue(node)};
    while (!stack.empty()) {
      const UOp* u = stack.pop_back_val();
      const bool is_leaf = u != node && (IsStored(u) || plan.IsRealized(u));
      if (is_leaf || u->op == Op::kReduceTuple || fused_.Contains(u) || !seen.Insert(u)) continue;
      const bool is_staged = plan.staged.count(u) != 0;
      const bool has_memory = u->dtype.is_value() && !u->dtype.is_index() && !u->dtype.is_void();
      if ((is_staged || u->op == Op::kReduceAxis) && has_memory && u != ComputedValue(node)) {
        values.push_back(u);
        staged += is_staged;
      }
      stack.append(u->srcs().begin(), u->srcs().end());
    }
    if (values.size() == 1 && staged == 0 && !IsRepeated(values[0], node)) values.clear();
    return values;
  }

  bool IsRepeated(const UOp* reduce, const UOp* node) const {
    if (!IsContractionOrDots(reduce, shapes_)) return false;
    const Shape &shape = shapes_.Of(reduce), &results = shapes_.Of(ComputedValue(node));
    return IsStatic(shape) && IsStatic(results) && NumElements(shape) < NumElements(results);
  }

  // The predicted time of the kernel that stores these nodes, as it would be scheduled.
  double SecondsOf(const MaterializationPlan& plan, std::vector<const UOp*> nodes) {
    PlannedKernel kernel = Draft(plan, std::move(nodes));
    const auto [known, is_new] = seconds_.try_emplace(kernel.key);
    if (is_new) {
      BuildKernel(module_, body_, shapes_, plan, kernel.draft);
      const absl::StatusOr<cost::Cost> cost =
          schedule::ChosenCost(module_, calls_, *kernel.draft.kernel, target_);
      known->second = cost.ok() ? cost->Total() : std::numeric_limits<double>::infinity();
    }
    return known->second;
  }

  // The time of what computes a kernel's value if these values are stored.
  double SecondsSplit(MaterializationPlan& plan, const KernelDraft& draft,
                      const std::vector<const UOp*>& values) {
    for (const UOp* u : values) {
      plan.staged.erase(u);
      plan.realized.push_back({u, "", {}});
      plan.number[u] = static_cast<int>(plan.realized.size());
    }
    double seconds = SecondsOf(plan, draft.nodes);
    for (const UOp* u : values) seconds += SecondsOf(plan, {u});
    return seconds;
  }

  // The positions of the values that are better stored.
  std::vector<size_t> BetterStored(const MaterializationPlan& plan, const PlannedKernel& kernel,
                                   const std::vector<const UOp*>& values) {
    std::vector<std::vector<size_t>> choices;
    std::vector<size_t> staged, best;
    for (size_t i = 0; i < values.size(); ++i) {
      choices.push_back({i});
      if (plan.staged.count(values[i])) staged.push_back(i);
    }
    if (staged.size() > 1) choices.push_back(std::move(staged));
    double least = SecondsOf(plan, kernel.draft.nodes) * (1 - target_.prediction_error);
    for (const std::vector<size_t>& choice : choices) {
      std::vector<const UOp*> its;
      for (size_t i : choice) its.push_back(values[i]);
      MaterializationPlan changed = plan;
      const double seconds = SecondsSplit(changed, kernel.draft, its);
      if (seconds < least) least = seconds, best = choice;
    }
    return best;
  }

  // The time of the kernels that `other` does not have.
  double SecondsBeyond(const Planned& planned, const Planned& other) {
    std::map<std::string_view, int> times;
    for (const PlannedKernel& kernel : other.kernels) ++times[kernel.key];
    double seconds = 0;
    for (const PlannedKernel& kernel : planned.kernels) {
      if (--times[kernel.key] >= 0) continue;
      seconds += SecondsOf(planned.plan, kernel.draft.nodes);
    }
    return seconds;
  }

  const Module& module_;
  const KernelCalls calls_;
  const Body& body_;
  ShapeMap& shapes_;
  const passes::Target& target_;
  const MaterializationOptions& options_;
  const NodeSet& fused_;
  const UOpSpan order_;
  DraftNumbers numbers_;
  std::map<std::string, double> seconds_;  // by key
  std::set<std::string> judged_;           // keys
};

}  // namespace

StoredByPrediction FindPredictedSplits(const Module& module, const Body& body, ShapeMap& shapes,
                                       const passes::Target& target,
                                       const MaterializationOptions& options, const NodeSet& fused,
                                       UOpSpan order) {
  if (!options.fuse || !options.keep) return {};
  return Splitter(module, body, shapes, target, options, fused, order).Run();
}

}  // namespace tg::kernelize
