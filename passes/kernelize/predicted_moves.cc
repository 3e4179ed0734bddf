#include "passes/kernelize/predicted_moves.h"

#include <set>
#include <utility>
#include <vector>

#include "llvm/ADT/SmallVector.h"
#include "passes/analysis/kernel_axes.h"
#include "passes/cost/bounds.h"
#include "passes/kernelize/contractions.h"
#include "passes/kernelize/predicted_plan.h"

namespace tg::kernelize {
namespace {

// Limit on the plans that are made to see what a move changes.
constexpr int kMostTrials = 32;

// Where bounds are against computing a value in place, a trial is made all the same if it may gain
// this part of the plan's time, and bounds are not against it by this factor.
constexpr double kLargePart = 0.05, kMostDoubt = 10;

class PlanChanger {
 public:
  PlanChanger(const PlannedGraph& graph, passes::ThreadPool* workers)
      : graph_(graph), predictor_(graph, workers), planned_(predictor_.Plan(choices_)) {}

  FusionChoices Run() {
    for (size_t i = 0; i < planned_.kernels.size() && trials_ < kMostTrials; ++i) {
      // Begins again after a move, since the kernels have changed.
      if (StoresInside(i) || ComputesInPlace(i)) i = static_cast<size_t>(-1);
    }
    return std::move(choices_);
  }

 private:
  // A question whether kernels change: the bodies of these, and of their users if values of these
  // are to be computed there.
  using Question = std::vector<size_t>;

  bool IsLeaf(const UOp* u) const { return IsStored(u) || planned_.plan.IsRealized(u); }

  // Stores values inside the kernel, and inside kernels that are equal to it.
  bool StoresInside(size_t i) {
    const PredictedKernel& kernel = planned_.kernels[i];
    const std::vector<const UOp*> values = Inside(kernel);
    if (values.empty() || !asked_.insert({kernel.body}).second) return false;
    const std::vector<size_t> split = BetterStored(kernel, values);
    if (split.empty()) return false;
    FusionChoices more = choices_;
    for (const PredictedKernel& other : planned_.kernels) {
      if (other.body != kernel.body) continue;
      const std::vector<const UOp*> its = Inside(other);
      for (size_t k : split) more.stored.insert(its[k]);
    }
    return Makes(std::move(more), 0);
  }

  // Reduces and staged values inside a kernel, without what must stay there; none unless there are
  // several, or one that is staged, or a contraction that has fewer elements than the kernel's
  // value: the schedule of a contraction computes these again.
  std::vector<const UOp*> Inside(const PredictedKernel& kernel) const {
    const UOp* const node = kernel.draft.nodes[0];
    std::vector<const UOp*> values;
    size_t staged = 0;
    NodeSet seen;
    llvm::SmallVector<const UOp*, 32> stack;
    for (const UOp* u : kernel.draft.nodes) stack.push_back(ComputedValue(u));
    while (!stack.empty()) {
      const UOp* u = stack.pop_back_val();
      if (u != node && IsLeaf(u)) continue;
      if (u->op == Op::kReduceTuple || graph_.fused.Contains(u) || !seen.Insert(u)) continue;
      const bool is_staged = planned_.plan.staged.count(u) != 0;
      const bool has_memory = u->dtype.is_value() && !u->dtype.is_index() && !u->dtype.is_void();
      if ((is_staged || u->op == Op::kReduceAxis) && has_memory && u != ComputedValue(node) &&
          !choices_.in_place.contains(u)) {
        values.push_back(u);
        staged += is_staged;
      }
      stack.append(u->srcs().begin(), u->srcs().end());
    }
    if (values.size() == 1 && staged == 0 && !IsRepeated(values[0], node)) values.clear();
    return values;
  }

  bool IsRepeated(const UOp* reduce, const UOp* node) const {
    if (!IsContractionOrDots(reduce, graph_.shapes)) return false;
    const Shape &shape = graph_.shapes.Of(reduce), &results = graph_.shapes.Of(ComputedValue(node));
    return IsStatic(shape) && IsStatic(results) && NumElements(shape) < NumElements(results);
  }

  // The positions of the values that are better stored: one, or all that are staged.
  std::vector<size_t> BetterStored(const PredictedKernel& kernel,
                                   const std::vector<const UOp*>& values) {
    std::vector<std::vector<size_t>> choices;
    std::vector<size_t> staged, best;
    for (size_t i = 0; i < values.size(); ++i) {
      choices.push_back({i});
      if (planned_.plan.staged.count(values[i])) staged.push_back(i);
    }
    if (staged.size() > 1) choices.push_back(std::move(staged));
    double least = predictor_.SecondsOf(kernel) * (1 - graph_.target.prediction_error);
    for (const std::vector<size_t>& choice : choices) {
      MaterializationPlan changed = planned_.plan;
      for (size_t i : choice) {
        changed.staged.erase(values[i]);
        changed.realized.push_back({values[i], {}, {}});
        changed.number[values[i]] = static_cast<int>(changed.realized.size());
      }
      double seconds = predictor_.SecondsOf(changed, kernel.draft.nodes[0]);
      for (size_t i : choice) seconds += predictor_.SecondsOf(changed, values[i]);
      if (seconds < least) least = seconds, best = choice;
    }
    return best;
  }

  // Computes the value of the kernel in its users, and so for all that are equal to it and to them.
  bool ComputesInPlace(size_t i) {
    const PredictedKernel& kernel = planned_.kernels[i];
    const UOp* const node = kernel.draft.nodes[0];
    const std::vector<size_t>& users = planned_.users.Get(node);
    const Reason& reason = planned_.ReasonOf(kernel);
    if (!reason.in_place_seconds || users.empty()) return false;
    const Question question = InPlace(kernel);
    if (!asked_.insert(question).second) return false;
    // At best the users take what they take now, without loading the value.
    double bytes = static_cast<double>(ByteSize(node->dtype.scalar()));
    for (const Dim& d : graph_.shapes.Of(node)) {
      bytes *= static_cast<double>(analysis::MaxExtent(graph_.module, *graph_.body.context, d));
    }
    const double stored = predictor_.SecondsOf(kernel);
    const double gain =
        stored + cost::TransferSeconds(bytes, graph_.target) * static_cast<double>(users.size());
    double now = stored;
    for (size_t user : users) now += predictor_.SecondsOf(planned_.kernels[user]);
    const double least = graph_.target.prediction_error * now, added = *reason.in_place_seconds;
    if (gain <= least || added > kMostDoubt * now) return false;
    // All that the kernel computes, or its value alone: then one that it is computed from may be
    // stored instead.
    FusionChoices all = choices_, alone = choices_;
    double gains = 0;
    for (const PredictedKernel& other : planned_.kernels) {
      if (other.body != kernel.body || !planned_.ReasonOf(other).in_place_seconds) continue;
      if (InPlace(other) != question) continue;
      alone.in_place.insert(other.draft.nodes[0]);
      ComputeInPlace(other.draft.nodes[0], all);
      gains += gain;
    }
    const bool is_large = gains >= kLargePart * planned_.seconds;
    if (gain - added <= least && !is_large) return false;
    return Makes(std::move(all), graph_.target.prediction_error) ||
           (is_large && Makes(std::move(alone), graph_.target.prediction_error));
  }

  Question InPlace(const PredictedKernel& kernel) const {
    Question bodies = {kernel.body};
    for (size_t user : planned_.users.Get(kernel.draft.nodes[0])) {
      bodies.push_back(planned_.kernels[user].body);
    }
    return bodies;
  }

  // Adds all that the kernel of `node` computes.
  void ComputeInPlace(const UOp* node, FusionChoices& choices) const {
    llvm::SmallVector<const UOp*, 32> stack = {node};
    while (!stack.empty()) {
      const UOp* u = stack.pop_back_val();
      if ((u != node && IsLeaf(u)) || !choices.in_place.insert(u).second) continue;
      stack.append(u->srcs().begin(), u->srcs().end());
    }
  }

  // Replaces the choices if the plan that follows from these is faster by more than `error`.
  bool Makes(FusionChoices choices, double error) {
    ++trials_;
    PredictedPlan trial = predictor_.Plan(choices);
    // The planner may decide otherwise about other values too.
    if (predictor_.SecondsBeyond(trial, planned_) >=
        predictor_.SecondsBeyond(planned_, trial) * (1 - error)) {
      return false;
    }
    choices_ = std::move(choices);
    planned_ = std::move(trial);
    return true;
  }

  const PlannedGraph& graph_;
  PlanPredictor predictor_;
  FusionChoices choices_;
  PredictedPlan planned_;  // by these choices
  int trials_ = 0;
  std::set<Question> asked_;
};

}  // namespace

FusionChoices FindPredictedMoves(const PlannedGraph& graph, passes::ThreadPool* workers) {
  if (!graph.options.fuse || !graph.options.keep) return {};
  return PlanChanger(graph, workers).Run();
}

}  // namespace tg::kernelize
