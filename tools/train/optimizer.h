// Optimizers: how a step changes the weights, as nodes of the graph that computes the gradients.
#ifndef TG_TOOLS_TRAIN_OPTIMIZER_H_
#define TG_TOOLS_TRAIN_OPTIMIZER_H_

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "frontend/common/graph_builder.h"

namespace tg::train {

enum class OptimizerKind { kSgd, kAdam, kAdamW, kLion };
enum class ScheduleKind { kConstant, kLinear, kCosine };

struct OptimizerSpec {
  OptimizerKind kind = OptimizerKind::kAdamW;
  double rate = 1e-3;
  double momentum = 0;  // sgd
  bool nesterov = false;
  double beta1 = 0.9, beta2 = 0.999, epsilon = 1e-8;
  // Weight decay: of adamw and lion a share of the weight, times the rate; of sgd and adam a part
  // of the gradient.
  double decay = 0;
  bool decay_matrices_only = false;  // no decay of weights with one axis: biases, scales of norms
  // The greatest norm of all gradients together; larger ones are scaled to it.
  double clip = std::numeric_limits<double>::infinity();
};
absl::StatusOr<OptimizerSpec> ParseOptimizer(std::string_view text);

// The rate over the steps: it grows linearly for `warmup` steps, then falls to 0 at `total` steps.
struct RateSchedule {
  ScheduleKind kind = ScheduleKind::kConstant;
  int64_t warmup = 0, total = 1;
};
absl::StatusOr<RateSchedule> ParseSchedule(std::string_view text);

// A state of the module, and its gradient in the graph, in the weight's type and shape.
struct TrainedWeight {
  std::string name;
  frontend::Value weight = nullptr, gradient = nullptr;
  bool decays = true;  // if the optimizer says so
};

// The factor of the loss that keeps gradients of halves from underflow: a state, at first
// `initial`. It is halved by a step whose gradients are not finite, which changes nothing else, and
// doubled after kStepsOfScale steps in a row that are.
inline constexpr int kStepsOfScale = 2000;
inline constexpr double kGreatestScale = 0x1p30;
frontend::Value MakeLossScale(frontend::GraphBuilder& g, double initial);

// Adds the update to the graph and its states to the module: "train.step" (i32[], the number of
// steps so far) and, for each weight, what the optimizer accumulates ("w.momentum", "w.square", in
// f32). Returns the assigns. A weight of a type narrower than f32 is the rounded value of a state
// "w.master" in f32, which is updated: small changes would round to none. `scale` is the factor of
// gradients that MakeLossScale made, or null. `others` are assigns of the model, which belong to
// the step: one that changes no weight leaves their targets as well.
std::vector<frontend::Value> MakeUpdate(frontend::GraphBuilder& g, const OptimizerSpec& spec,
                                        const RateSchedule& schedule,
                                        const std::vector<TrainedWeight>& weights,
                                        frontend::Value scale = nullptr,
                                        const std::vector<frontend::Value>& others = {});

}  // namespace tg::train

#endif  // TG_TOOLS_TRAIN_OPTIMIZER_H_
