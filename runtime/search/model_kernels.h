// The kernels of a model, as a search sees them: their times in a run, and their contents.
#ifndef TG_RUNTIME_SEARCH_MODEL_KERNELS_H_
#define TG_RUNTIME_SEARCH_MODEL_KERNELS_H_

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "ir/module.h"
#include "passes/pipeline_text.h"
#include "passes/schedule/schedule_file.h"
#include "passes/target.h"
#include "runtime/search/capture.h"
#include "runtime/search/search.h"
#include "runtime/session/device_session.h"
#include "runtime/session/device_session_options.h"

namespace tg::search {

class ModelKernels {
 public:
  // Compiles the module and runs the graph a few times. `feed` is copied.
  static absl::StatusOr<std::unique_ptr<ModelKernels>> Open(
      const Module& module, const std::function<absl::Status(runtime::Session&)>& feed,
      const SearchOptions& options);

  // Before kernels are scheduled; its kernels are in the order of gains().
  const Module& unscheduled() const { return *unscheduled_; }
  const passes::Target& target() const { return options_.target; }
  const std::string& driver() const { return driver_; }
  const std::vector<KernelGain>& gains() const { return gains_; }
  // Numbers of the kernels that take time in a run, by what they may gain.
  const std::vector<size_t>& order() const { return order_; }

  // The graph that is run, as for Session::Run.
  const std::string& graph() const { return graph_; }
  // A session of the model with these schedules, which times kernels. `scratch`: a folder.
  absl::StatusOr<std::unique_ptr<runtime::DeviceSession>> OpenWith(
      const std::vector<schedule::MeasuredSchedule>& schedules, const std::string& scratch);
  // How long Open has taken.
  double open_seconds() const { return open_seconds_; }

  // Runs the graph, and writes the kernel with its contents to PATH.uop and others.
  absl::StatusOr<CapturedKernel> WriteKernel(size_t kernel, const std::string& path);

 private:
  absl::Status Compile(const Module& module, const passes::Pipeline& pipeline);
  absl::StatusOr<std::unique_ptr<runtime::DeviceSession>> NewSession(
      const Module& compiled, runtime::StepObserver* observer);
  absl::Status TimeKernels(runtime::DeviceSession& session);

  std::string graph_, driver_;
  std::function<absl::Status(runtime::Session&)> feed_;
  passes::Pipeline scheduling_;  // from the pass schedule on
  double open_seconds_ = 0;
  runtime::DeviceSessionOptions options_;
  std::unique_ptr<Module> unscheduled_, compiled_;
  std::vector<KernelGain> gains_;
  std::vector<size_t> order_;
  std::unique_ptr<Capture> capture_;
  std::unique_ptr<runtime::DeviceSession> captured_;
};

}  // namespace tg::search

#endif  // TG_RUNTIME_SEARCH_MODEL_KERNELS_H_
