#include "runtime/device/context.h"

#include "base/status.h"

namespace tg::runtime {
namespace {

class Finished : public EventState {
 public:
  explicit Finished(std::optional<LaunchTimes> times) : times_(times) {}
  bool is_over() const override { return true; }
  absl::Status Wait() const override { return absl::OkStatus(); }
  absl::StatusOr<LaunchTimes> Times() const override {
    if (times_.has_value()) return *times_;
    return absl::FailedPreconditionError("the command ran without profiling");
  }

 private:
  std::optional<LaunchTimes> times_;
};

}  // namespace

absl::StatusOr<WrappedMemory> Context::Wrap(DeviceHandle, bool) const {
  return InvalidArgument(name(), " is no device of OpenCL, and has no cl_mem");
}

absl::Status CheckProfiling(const Context& context, bool profiling) {
  if (!profiling || context.profiling()) return absl::OkStatus();
  return InvalidArgument("times of kernels need a context with profiling, which the open one of ",
                         context.name(), " has not");
}

Event FinishedEvent(std::optional<LaunchTimes> times) {
  return std::make_shared<const Finished>(times);
}

}  // namespace tg::runtime
