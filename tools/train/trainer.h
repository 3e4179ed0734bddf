// The loop of a training run.
#ifndef TG_TOOLS_TRAIN_TRAINER_H_
#define TG_TOOLS_TRAIN_TRAINER_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "runtime/session/session.h"
#include "tools/train/checkpoint.h"
#include "tools/train/data.h"
#include "tools/train/step.h"

namespace tg::train {

struct TrainOptions {
  int64_t epochs = 1;
  uint64_t seed = 1;
  std::string checkpoint;        // a file, or empty
  int64_t checkpoint_steps = 0;  // steps between two checkpoints; 0: at the end of each epoch only
  bool resume = false;           // from the checkpoint, if it is there
  int64_t patience = 0;          // epochs without a better evaluation after which it stops; 0: none
  bool check_nan = false;        // find the op that made a loss that is not finite
  std::string report;            // a page of curves, or empty
  std::string settings;          // what a checkpoint must have in common with the run
};

// The mean loss and accuracy of a set of samples.
struct Score {
  double loss = 0, accuracy = 0;
};

// Trains with `samples`, and evaluates after each epoch with `held_out`, if it is not null. `log`
// gets a line about each epoch. Leaves the trained weights in the session; with `patience`, those
// of the best evaluation. InvalidArgument names the step at which the loss is not finite.
absl::Status Train(runtime::Session& session, const TrainingModule& training, Samples& samples,
                   Samples* held_out, const TrainOptions& options,
                   const std::function<void(const std::string&)>& log);

absl::StatusOr<Score> Evaluate(runtime::Session& session, const TrainingModule& training,
                               Samples& samples);

// A tensor of zeros for a state of the module.
absl::StatusOr<runtime::HostTensor> ZerosFor(const Module& module, const std::string& state);

// Sets all elements of a state to `value`.
absl::Status SetAll(runtime::Session& session, const Module& module, const std::string& state,
                    double value);

// Random weights that the seed gives: of several axes, uniform within 1 / sqrt(elements of a row);
// of one axis, ones if the name says that they are a scale, else zeros.
absl::Status InitializeWeights(runtime::Session& session, const TrainingModule& training,
                               uint64_t seed);

// Zeros for the left matrices of adapters, random numbers for the right ones, so that the weights
// begin as they are.
absl::Status InitializeAdapters(runtime::Session& session, const TrainingModule& training,
                                uint64_t seed);
// The adapted weights with what their adapters add.
absl::StatusOr<Tensors> MergedWeights(runtime::Session& session, const TrainingModule& training);

// The first node of the step with a value that is not finite, of sources that are, for the inputs
// that the session has and these states; empty if there is none.
absl::StatusOr<std::string> FindNotFinite(runtime::Session& session, const Module& module,
                                          const Tensors& states);

}  // namespace tg::train

#endif  // TG_TOOLS_TRAIN_TRAINER_H_
