#include "passes/kernelize/predicted_moves.h"

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
#include "passes/analysis/kernel_axes.h"
#include "passes/analysis/structural_key.h"
#include "passes/cost/bounds.h"
#include "passes/kernelize/kernel_body.h"
#include "passes/schedule/schedule.h"

namespace tg::kernelize {
namespace {

// Limit on the plans that are made to see what a move changes.
constexpr int kMostTrials = 16;

// A move is not tried if it cannot gain this part of the whole plan's time.
constexpr double kLeastGain = 0.05;

// A kernel of a plan. Those of equal keys have equal bodies.
struct PlannedKernel {
  KernelDraft draft;
  std::string key;
};
struct Planned {
  MaterializationPlan plan;
  std::vector<PlannedKernel> kernels;
  NodeMap<std::vector<size_t>> users;  // by value: the positions of the kernels that read it
  double seconds = 0;                  // predicted, of all kernels
};

class PlanChanger {
 public:
  PlanChanger(const PlannedGraph& graph, passes::ThreadPool* workers)
      : graph_(graph), workers_(workers), calls_(graph.module) {}

  FusionChoices Run() {
    planned_ = Plan(choices_);
    for (size_t i = 0; i < planned_.kernels.size() && trials_ < kMostTrials; ++i) {
      // Begins again after a move, since the kernels have changed.
      if (StoresInside(i) || ComputesInPlace(i)) i = static_cast<size_t>(-1);
    }
    return std::move(choices_);
  }

 private:
  // Stores values inside the kernel, and inside kernels that are equal to it.
  bool StoresInside(size_t i) {
    const PlannedKernel& kernel = planned_.kernels[i];
    const std::vector<const UOp*> values = Inside(planned_.plan, kernel.draft);
    if (values.empty() || !judged_.insert(kernel.key).second) return false;
    const std::vector<size_t> split = BetterStored(planned_.plan, kernel, values);
    if (split.empty()) return false;
    FusionChoices more = choices_;
    for (const PlannedKernel& other : planned_.kernels) {
      if (other.key != kernel.key) continue;
      const std::vector<const UOp*> its = Inside(planned_.plan, other.draft);
      for (size_t k : split) more.stored.insert(its[k]);
    }
    return Makes(std::move(more), 0);
  }

  // What tells which kernels a move changes that computes the value of a kernel in place: the keys
  // of the kernel and of its users. Empty if that value is stored for other reasons than its cost.
  std::string KeyInPlace(const PlannedKernel& kernel) const {
    const UOp* const u = kernel.draft.nodes[0];
    const auto number = static_cast<size_t>(planned_.plan.number.Get(u));
    if (!planned_.plan.realized[number - 1].reason.by_bounds) return "";
    std::string key = kernel.key;
    for (size_t user : planned_.users.Get(u)) key += "\n" + planned_.kernels[user].key;
    return key;
  }

  // Computes the value of the kernel in its users, and so for all that are equal to it and to them.
  bool ComputesInPlace(size_t i) {
    const PlannedKernel& kernel = planned_.kernels[i];
    const UOp* const node = kernel.draft.nodes[0];
    const std::string key = KeyInPlace(kernel);
    const std::vector<size_t>& users = planned_.users.Get(node);
    if (key.empty() || users.empty() || !judged_.insert(key).second) return false;
    // At best the users take what they take now, without loading the value.
    double bytes = static_cast<double>(ByteSize(node->dtype.scalar()));
    for (const Dim& d : graph_.shapes.Of(node)) {
      bytes *= static_cast<double>(analysis::MaxExtent(graph_.module, *graph_.body.context, d));
    }
    const double stored = SecondsOf(kernel);
    const double gain =
        stored + cost::TransferSeconds(bytes, graph_.target) * static_cast<double>(users.size());
    double now = stored;
    for (size_t user : users) now += SecondsOf(planned_.kernels[user]);
    if (gain <= graph_.target.prediction_error * now) return false;
    FusionChoices more = choices_;
    double gains = 0;
    for (const PlannedKernel& other : planned_.kernels) {
      if (other.key != kernel.key || KeyInPlace(other) != key) continue;
      more.in_place.insert(other.draft.nodes[0]);
      gains += gain;
    }
    if (gains < kLeastGain * planned_.seconds) return false;
    return Makes(std::move(more), graph_.target.prediction_error);
  }

  // Replaces the choices if the plan that follows from these is faster by more than `error`.
  bool Makes(FusionChoices choices, double error) {
    ++trials_;
    Planned trial = Plan(choices);
    // The planner may decide otherwise about other values too.
    if (SecondsBeyond(trial, planned_) >= SecondsBeyond(planned_, trial) * (1 - error))
      return false;
    choices_ = std::move(choices);
    planned_ = std::move(trial);
    return true;
  }

  PlannedKernel Draft(const MaterializationPlan& plan, std::vector<const UOp*> nodes) {
    KernelDraft draft =
        DraftKernel(graph_.module, graph_.body, graph_.shapes, plan, std::move(nodes), numbers_);
    std::string key = draft.key;
    if (key.empty() && draft.kernel) {
      key = analysis::StructuralKey(draft.kernel->body, draft.kernel->body.Order());
    }
    return {std::move(draft), std::move(key)};
  }

  Planned Plan(const FusionChoices& choices) {
    UseTable uses(graph_.module, *graph_.body.context, graph_.shapes);
    NodeMap<UseList> read_uses;
    Planned planned;
    planned.plan = PlanMaterialization(graph_, choices, uses, read_uses);
    for (const Realized& r : planned.plan.realized) {
      planned.kernels.push_back(Draft(planned.plan, {r.node}));
      if (planned.kernels.back().draft.copy) planned.kernels.pop_back();
    }
    Predict(planned);
    for (size_t i = 0; i < planned.kernels.size(); ++i) {
      planned.seconds += SecondsOf(planned.kernels[i]);
      for (const UOp* u : planned.kernels[i].draft.inputs) planned.users[u].push_back(i);
    }
    return planned;
  }

  // Reduces and staged values inside a kernel, without what must stay there; none unless there are
  // several, or one that is staged.
  std::vector<const UOp*> Inside(const MaterializationPlan& plan, const KernelDraft& draft) const {
    const UOp* const node = draft.nodes[0];
    std::vector<const UOp*> values;
    size_t staged = 0;
    NodeSet seen;
    llvm::SmallVector<const UOp*, 32> stack = {ComputedValue(node)};
    while (!stack.empty()) {
      const UOp* u = stack.pop_back_val();
      const bool is_leaf = u != node && (IsStored(u) || plan.IsRealized(u));
      if (is_leaf || u->op == Op::kReduceTuple || graph_.fused.Contains(u) || !seen.Insert(u))
        continue;
      const bool is_staged = plan.staged.count(u) != 0;
      const bool has_memory = u->dtype.is_value() && !u->dtype.is_index() && !u->dtype.is_void();
      if ((is_staged || u->op == Op::kReduceAxis) && has_memory && u != ComputedValue(node) &&
          !choices_.in_place.contains(u)) {
        values.push_back(u);
        staged += is_staged;
      }
      stack.append(u->srcs().begin(), u->srcs().end());
    }
    if (values.size() < 2 && staged == 0) values.clear();
    return values;
  }

  // The predicted time of a kernel, which is built, as it would be scheduled.
  double Predicted(const PlannedKernel& kernel) const {
    const absl::StatusOr<cost::Cost> cost =
        schedule::ChosenCost(graph_.module, calls_, *kernel.draft.kernel, graph_.target);
    return cost.ok() ? cost->Total() : std::numeric_limits<double>::infinity();
  }

  // Predicts the times of all kernels of a plan, several at a time if there are workers.
  void Predict(Planned& planned) {
    std::vector<std::pair<PlannedKernel*, double*>> unknown;
    for (PlannedKernel& kernel : planned.kernels) {
      const auto [known, is_new] = seconds_.try_emplace(kernel.key);
      if (!is_new) continue;
      BuildKernel(graph_.module, graph_.body, graph_.shapes, planned.plan, kernel.draft);
      unknown.emplace_back(&kernel, &known->second);
    }
    const auto predict = [&](size_t i) { *unknown[i].second = Predicted(*unknown[i].first); };
    if (workers_) {
      workers_->ForEach(unknown.size(), predict);
    } else {
      for (size_t i = 0; i < unknown.size(); ++i) predict(i);
    }
  }

  // The predicted time of a kernel of a plan.
  double SecondsOf(const PlannedKernel& kernel) const { return seconds_.find(kernel.key)->second; }
  // The same of the kernel that stores these nodes.
  double SecondsOf(const MaterializationPlan& plan, std::vector<const UOp*> nodes) {
    PlannedKernel kernel = Draft(plan, std::move(nodes));
    const auto [known, is_new] = seconds_.try_emplace(kernel.key);
    if (is_new) {
      BuildKernel(graph_.module, graph_.body, graph_.shapes, plan, kernel.draft);
      known->second = Predicted(kernel);
    }
    return known->second;
  }

  // The time of what computes a kernel's value if these values are stored.
  double SecondsSplit(MaterializationPlan& plan, const KernelDraft& draft,
                      const std::vector<const UOp*>& values) {
    for (const UOp* u : values) {
      plan.staged.erase(u);
      plan.realized.push_back({u, {}, {}});
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
    double least = SecondsOf(kernel) * (1 - graph_.target.prediction_error);
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
      seconds += SecondsOf(kernel);
    }
    return seconds;
  }

  const PlannedGraph& graph_;
  passes::ThreadPool* const workers_;
  const KernelCalls calls_;
  FusionChoices choices_;
  Planned planned_;  // by these choices
  int trials_ = 0;
  DraftNumbers numbers_;
  std::map<std::string, double> seconds_;  // by key
  std::set<std::string> judged_;           // keys
};

}  // namespace

FusionChoices FindPredictedMoves(const PlannedGraph& graph, passes::ThreadPool* workers) {
  if (!graph.options.fuse || !graph.options.keep) return {};
  return PlanChanger(graph, workers).Run();
}

}  // namespace tg::kernelize
