// Checkpoints: all states of a training run in a file, from which it continues bit for bit.
#ifndef TG_TOOLS_TRAIN_CHECKPOINT_H_
#define TG_TOOLS_TRAIN_CHECKPOINT_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "runtime/io/host_tensor.h"
#include "runtime/session/session.h"
#include "tools/train/curves.h"

namespace tg::train {

using Tensors = std::map<std::string, runtime::HostTensor>;

// What a run knows besides the states of its session.
struct Progress {
  // The next step: number `batch` of the epoch.
  int64_t epoch = 0, batch = 0;
  // Of the epoch so far.
  double loss_sum = 0, accuracy_sum = 0;
  // Of early stopping: the least loss of an evaluation, epochs since then, and the weights.
  double best_loss = 0;
  int64_t epochs_since_best = -1;  // -1: there was no evaluation
  Tensors best;
  std::vector<EpochScore> curves;  // of the epochs so far
};

// The contents of these states.
absl::StatusOr<Tensors> ReadStates(runtime::Session& session,
                                   const std::vector<std::string>& names);
absl::Status SetStates(runtime::Session& session, const Tensors& states);

// Replaces the file atomically. `settings` says what decides the course of the run.
absl::Status WriteCheckpoint(const std::string& path, const Tensors& states,
                             const Progress& progress, const std::string& settings);
// Sets the states, which must be all of `names`, and returns the progress. InvalidArgument if the
// file is of a run with other settings, or of another model.
absl::StatusOr<Progress> ReadCheckpoint(const std::string& path, runtime::Session& session,
                                        const std::vector<std::string>& names,
                                        const std::string& settings);

}  // namespace tg::train

#endif  // TG_TOOLS_TRAIN_CHECKPOINT_H_
