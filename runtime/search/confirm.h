// Compares a model with schedules that were found and without, by turns: what a kernel gains alone,
// it may lose among others.
#ifndef TG_RUNTIME_SEARCH_CONFIRM_H_
#define TG_RUNTIME_SEARCH_CONFIRM_H_

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "passes/schedule/schedule_file.h"
#include "runtime/search/model_kernels.h"
#include "runtime/session/device_session.h"

namespace tg::search {

// A kernel with a schedule that is faster alone.
struct Winner {
  size_t kernel = 0;
  schedule::MeasuredSchedule schedule;
  double share = 1;  // of the kernel's time in the model; set by Compare
};

// Times of a run of the model, the least of those by turns.
struct RunPair {
  double before = 0, after = 0;
  double share() const { return before > 0 ? after / before : 1; }
};

class ModelTurns {
 public:
  // `model` must outlive the object; `scratch` is a folder.
  static absl::StatusOr<std::unique_ptr<ModelTurns>> Open(ModelKernels& model,
                                                          const std::string& scratch);

  // How long Compare runs the model, where a run takes `run_seconds`.
  static double Seconds(double run_seconds);
  // Runs the model with all of the winners and without, and sets their shares.
  absl::StatusOr<RunPair> Compare(std::vector<Winner>& winners);

 private:
  explicit ModelTurns(ModelKernels& model, const std::string& scratch)
      : model_(model), scratch_(scratch) {}

  ModelKernels& model_;
  const std::string scratch_;
  std::unique_ptr<runtime::DeviceSession> before_;
};

// The numbers of the winners to drop: those whose kernels do not gain in the model; or, if all do
// but the model does not, what a bisection finds; or, if that finds nothing, the last half.
// `compare` as ModelTurns::Compare; `pair` is what the model takes with all of them.
absl::StatusOr<std::vector<size_t>> FindLosers(
    std::vector<Winner>& winners,
    const std::function<absl::StatusOr<RunPair>(std::vector<Winner>&)>& compare, RunPair& pair);

}  // namespace tg::search

#endif  // TG_RUNTIME_SEARCH_CONFIRM_H_
