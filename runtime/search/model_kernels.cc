#include "runtime/search/model_kernels.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "base/status.h"
#include "base/write_file.h"
#include "ir/devices.h"
#include "llvm/ADT/STLExtras.h"
#include "passes/pass_manager.h"
#include "passes/schedule/schedule.h"
#include "runtime/session/choose_devices.h"
#include "runtime/session/open_devices.h"

namespace tg::search {
namespace {

// Runs of the model to time its kernels: until kRunSeconds have passed, within these limits.
constexpr int kLeastModelRuns = 3, kMostModelRuns = 50;
constexpr double kRunSeconds = 0.5;
// What a kernel may gain at least, as a part of its time: the device's rates are not exact.
constexpr double kLeastHeadroom = 0.05;

}  // namespace

absl::StatusOr<std::unique_ptr<ModelKernels>> ModelKernels::Open(
    const Module& module, const std::function<absl::Status(runtime::Session&)>& feed,
    const SearchOptions& options) {
  const auto start = std::chrono::steady_clock::now();
  std::unique_ptr<ModelKernels> model(new ModelKernels());
  model->feed_ = feed;
  model->graph_ = options.graph;
  TG_ASSIGN_OR_RETURN(const std::vector<runtime::ChosenDevice> chosen,
                      runtime::ChooseDevices(module, runtime::DeviceRequest{options.device, {}}));
  if (chosen.size() > 1) {
    return InvalidArgument("the module runs on ", chosen.size(),
                           " devices; a search is for one device");
  }
  TG_RETURN_IF_ERROR(
      runtime::OpenDevices(module, chosen, options.target, /*profiling=*/true, model->options_));
  model->driver_ = runtime::DriverText(model->options_.context->info());
  TG_RETURN_IF_ERROR(model->Compile(module, options.pipeline));
  {
    TG_ASSIGN_OR_RETURN(const std::unique_ptr<runtime::DeviceSession> session,
                        model->NewSession(*model->compiled_, nullptr));
    TG_RETURN_IF_ERROR(model->TimeKernels(*session));
  }
  model->capture_ = std::make_unique<Capture>(*model->unscheduled_, *model->compiled_);
  TG_ASSIGN_OR_RETURN(model->captured_,
                      model->NewSession(*model->compiled_, model->capture_.get()));
  model->open_seconds_ =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return model;
}

absl::Status ModelKernels::Compile(const Module& module, const passes::Pipeline& pipeline) {
  const auto schedules = llvm::find_if(
      pipeline, [](const auto& step) { return step.pass == &schedule::kSchedulePass; });
  if (schedules == pipeline.end()) return InvalidArgument("the pipeline has no pass schedule");
  compiled_ = Clone(module);
  passes::PassManagerOptions passes;
  passes.target = &options_.target;
  TG_RETURN_IF_ERROR(passes::PassManager({pipeline.begin(), schedules}, passes).Run(*compiled_));
  unscheduled_ = Clone(*compiled_);
  scheduling_ = {schedules, pipeline.end()};
  return passes::PassManager(scheduling_, passes).Run(*compiled_);
}

absl::StatusOr<std::unique_ptr<runtime::DeviceSession>> ModelKernels::NewSession(
    const Module& compiled, runtime::StepObserver* observer) {
  runtime::DeviceSessionOptions options = options_;
  options.observer = observer;
  options.time_kernels = observer == nullptr;
  TG_ASSIGN_OR_RETURN(std::unique_ptr<runtime::DeviceSession> session,
                      runtime::DeviceSession::Create(Clone(compiled), std::move(options)));
  TG_RETURN_IF_ERROR(feed_(*session));
  return session;
}

absl::StatusOr<std::unique_ptr<runtime::DeviceSession>> ModelKernels::OpenWith(
    const std::vector<schedule::MeasuredSchedule>& schedules, const std::string& scratch) {
  if (schedules.empty()) return NewSession(*compiled_, nullptr);
  const std::string file = scratch + "/model.schedules";
  TG_RETURN_IF_ERROR(WriteFile(file, schedule::PrintScheduleFile(schedules)));
  passes::Pipeline pipeline = scheduling_;
  pipeline.front().options["file"] = file;
  pipeline.front().options["driver"] = driver_;
  const std::unique_ptr<Module> module = Clone(*unscheduled_);
  passes::PassManagerOptions passes;
  passes.target = &options_.target;
  TG_RETURN_IF_ERROR(passes::PassManager(pipeline, passes).Run(*module));
  return NewSession(*module, nullptr);
}

absl::Status ModelKernels::TimeKernels(runtime::DeviceSession& session) {
  std::vector<double> least;
  double sum = 0;
  for (int i = 0; i <= kMostModelRuns && (i <= kLeastModelRuns || sum < kRunSeconds); ++i) {
    TG_RETURN_IF_ERROR(session.Run(graph_));
    sum += session.last_times().seconds();
    const std::vector<runtime::LaunchTimes>& times = session.last_times().kernels;
    if (i == 0) continue;  // loads the kernels
    if (least.empty()) least.assign(times.size(), HUGE_VAL);
    for (size_t k = 0; k < times.size(); ++k) least[k] = std::min(least[k], times[k].seconds());
  }
  gains_.resize(unscheduled_->kernels.size());
  const passes::Target& target = options_.target;
  const runtime::Plan& plan = *session.last_plan();
  for (size_t step = 0; step < least.size(); ++step) {
    const runtime::PlannedKernel& planned = plan.kernels()[step];
    if (planned.kernel == nullptr || planned.empty) continue;
    const auto kernel = static_cast<size_t>(plan.step(step).kernel);
    KernelGain& gain = gains_[kernel];
    gain.name = planned.kernel->name;
    gain.calls += static_cast<size_t>(planned.trips);
    gain.seconds += least[step];
    gain.ideal += std::max(planned.work.ops / target.flops_per_second,
                           static_cast<double>(planned.trips) *
                               static_cast<double>(planned.buffer_bytes) / target.bytes_per_second);
  }
  for (size_t k = 0; k < gains_.size(); ++k) {
    // Kernels whose directives are in the module keep them.
    const Kernel& kernel = *unscheduled_->kernels[k];
    if (gains_[k].seconds <= 0 || kernel.stage != Stage::kKernel || !kernel.directives.empty()) {
      continue;
    }
    gains_[k].ideal = std::min(gains_[k].ideal, gains_[k].seconds * (1 - kLeastHeadroom));
    order_.push_back(k);
  }
  llvm::stable_sort(order_, [&](size_t a, size_t b) {
    return gains_[a].seconds - gains_[a].ideal > gains_[b].seconds - gains_[b].ideal;
  });
  return absl::OkStatus();
}

absl::StatusOr<CapturedKernel> ModelKernels::WriteKernel(size_t kernel, const std::string& path) {
  capture_->Want(kernel, path);
  TG_RETURN_IF_ERROR(captured_->Run(graph_));
  return capture_->Take();
}

}  // namespace tg::search
