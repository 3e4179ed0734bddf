// Plans with the predicted times of their kernels, as they would be scheduled.
#ifndef TG_PASSES_KERNELIZE_PREDICTED_PLAN_H_
#define TG_PASSES_KERNELIZE_PREDICTED_PLAN_H_

#include <cstddef>
#include <vector>

#include "ir/kernel_calls.h"
#include "ir/walk.h"
#include "llvm/ADT/StringMap.h"
#include "passes/kernelize/kernel_body.h"
#include "passes/kernelize/materialization.h"
#include "passes/thread_pool.h"

namespace tg::kernelize {

struct PredictedKernel {
  KernelDraft draft;
  size_t body = 0;  // kernels of one graph have equal numbers if their bodies are equal
};

struct PredictedPlan {
  MaterializationPlan plan;
  std::vector<PredictedKernel> kernels;  // without copies between devices
  NodeMap<std::vector<size_t>> users;    // by value: the positions of the kernels that read it
  double seconds = 0;                    // of all kernels

  // Why the value of a kernel of this plan is stored.
  const Reason& ReasonOf(const PredictedKernel& kernel) const {
    return plan.Of(kernel.draft.nodes[0]).reason;
  }
};

// Makes plans of one graph, and predicts each body once.
class PlanPredictor {
 public:
  // `workers`: threads that predict several kernels at a time; null: this one. All must outlive the
  // object.
  PlanPredictor(const PlannedGraph& graph, passes::ThreadPool* workers)
      : graph_(graph),
        workers_(workers),
        calls_(graph.module),
        uses_(graph.module, *graph.body.context, graph.shapes) {}

  PredictedPlan Plan(const FusionChoices& choices);
  // The seconds of a kernel of a plan.
  double SecondsOf(const PredictedKernel& kernel) const { return seconds_[kernel.body]; }
  // The seconds of the kernel that stores `node` in a plan that is not predicted as a whole.
  double SecondsOf(const MaterializationPlan& plan, const UOp* node);
  // The seconds of the kernels of a plan that `other` does not have.
  double SecondsBeyond(const PredictedPlan& plan, const PredictedPlan& other) const;

 private:
  // The kernel that stores `node` and its joint assigns. *is_new: its body is not known yet; then
  // it is built.
  PredictedKernel Draft(const MaterializationPlan& plan, const UOp* node, bool* is_new);
  double Predict(const PredictedKernel& kernel) const;

  const PlannedGraph& graph_;
  passes::ThreadPool* const workers_;
  const KernelCalls calls_;
  UseTable uses_;
  DraftNumbers numbers_;
  llvm::StringMap<size_t> bodies_;  // numbers, by KernelDraft::key or structure
  std::vector<double> seconds_;     // by body
};

}  // namespace tg::kernelize

#endif  // TG_PASSES_KERNELIZE_PREDICTED_PLAN_H_
