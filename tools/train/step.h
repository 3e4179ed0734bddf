// A training step as one module: forward, backward and update, with weights that are states.
#ifndef TG_TOOLS_TRAIN_STEP_H_
#define TG_TOOLS_TRAIN_STEP_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "ir/module.h"
#include "tools/train/adapters.h"
#include "tools/train/loss.h"
#include "tools/train/optimizer.h"

namespace tg::train {

// The graphs of a training module, and the buffers that it declares.
inline constexpr char kTrainGraph[] = "train";  // a step
inline constexpr char kEvalGraph[] = "eval";    // the same losses without an update
// Input f32[batch]: what each sample counts, 0 or 1.
inline constexpr char kSampleWeights[] = "train.weights";
// Outputs f32[]: the sums over the samples, times what they count.
inline constexpr char kLossSum[] = "train.loss";
inline constexpr char kAccuracySum[] = "train.accuracy";

struct TrainingModule {
  std::unique_ptr<Module> module;
  std::vector<std::string> weights;  // states that a step changes, in the order of declaration
  // Other states, which begin with zeros: what the optimizer accumulates, the number of steps, and
  // those of the model without contents.
  std::vector<std::string> accumulators;
  // States with contents that the model itself changes in a step: statistics.
  std::vector<std::string> statistics;
  std::vector<Adapter> adapters;
  std::vector<std::string> gradients;  // outputs, one for each weight; of `only_gradients`
  std::vector<std::string> inputs;  // of the model that the data have to give, without the target
  int64_t batch = 0;
  int64_t classes = 0;  // of cross_entropy
  bool has_accuracy = false;
  size_t checkpoints = 0;  // that the step retains
};

// Which values of the forward computation a step retains for the derivatives (KeepCheckpoints of
// passes/gradient/recompute.h). What is between two of those is computed again.
struct Checkpoints {
  size_t segments = 0;  // of the forward computation; 0: all values are retained
  size_t retained = 0;  // checkpoints between segments, the first ones
};

// What a step computes.
struct StepSpec {
  LossSpec loss;
  OptimizerSpec optimizer;
  RateSchedule schedule;
  // The step changes no weight, but writes the gradient of each into an output, in the weight's
  // type.
  bool only_gradients = false;
  std::function<bool(const BufferDecl&)> is_trained;
  std::function<bool(const BufferDecl&)> decays;  // null: all weights, as the optimizer says
  std::optional<double>
      loss_scale;  // the first factor, or 0 for none; not given: of weights of f16
  // The model as a step computes it, where that differs from a run: the same module, with other
  // nodes, and perhaps more inputs and states. Null: it does not differ.
  const Module* training_form = nullptr;
  Checkpoints checkpoints = {};
  AdapterSpec adapters;  // with a rank: only adapters of what is_trained accepts are trained
};

// Makes the module of a model, which it changes. Weights are the params of floats that the loss
// depends on and `is_trained` accepts. InvalidArgument if the loss's output or the batch do not
// fit, no weight is left, or an op on the way has no derivative.
absl::StatusOr<TrainingModule> MakeTrainingModule(std::unique_ptr<Module> model,
                                                  const StepSpec& spec);

}  // namespace tg::train

#endif  // TG_TOOLS_TRAIN_STEP_H_
