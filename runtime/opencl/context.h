// A device opened for work: an OpenCL context and one in-order queue, on which everything runs.
// Devices of one platform that are opened together share the OpenCL context.
//
// The queue's order is what makes buffer reuse safe: a launch that is enqueued later runs later.
// The objects made from a Context keep it alive through a shared pointer.
#ifndef TG_RUNTIME_OPENCL_CONTEXT_H_
#define TG_RUNTIME_OPENCL_CONTEXT_H_

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "runtime/opencl/cl_check.h"
#include "runtime/opencl/device.h"

namespace tg::runtime {

class Context {
 public:
  // `profiling` gives events their times; it costs some drivers a little per launch.
  static absl::StatusOr<std::shared_ptr<Context>> Create(const Device& device, bool profiling);

  // One for each of `devices`, in their order: the same one where a device occurs again.
  static absl::StatusOr<std::vector<std::shared_ptr<Context>>> CreateAll(
      std::span<const Device> devices, bool profiling);

  // Whether memory and events of the other one can be used here.
  bool SharesWith(const Context& other) const { return context() == other.context(); }

  const Device& device() const { return device_; }
  const DeviceInfo& info() const { return device_.info; }
  const std::string& name() const { return device_.info.name; }
  bool profiling() const { return profiling_; }
  cl_context context() const { return context_->get(); }
  cl_command_queue queue() const { return queue_.get(); }

  // Waits until everything enqueued has run. An error of an earlier launch may appear here.
  absl::Status Finish() const;

 private:
  Context(const Device& device, bool profiling, std::shared_ptr<const ClContext> context,
          ClQueue queue);

  Device device_;
  bool profiling_;
  std::shared_ptr<const ClContext> context_;
  ClQueue queue_;  // released before the context
};

}  // namespace tg::runtime

#endif  // TG_RUNTIME_OPENCL_CONTEXT_H_
