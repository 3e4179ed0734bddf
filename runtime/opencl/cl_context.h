// An opened device: an OpenCL context and one in-order queue on which all commands run. Devices of
// one platform that are opened together share the OpenCL context.
//
// Buffer reuse is safe because the queue runs commands in the order in which they are enqueued.
// Objects made from a Context keep it alive through a shared pointer.
#ifndef TG_RUNTIME_OPENCL_CL_CONTEXT_H_
#define TG_RUNTIME_OPENCL_CL_CONTEXT_H_

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
  // `profiling` records the times of events; with some drivers it slows launches slightly.
  static absl::StatusOr<std::shared_ptr<Context>> Create(const Device& device, bool profiling);

  // Returns one context per element of `devices`, in order. Equal devices get the same context.
  static absl::StatusOr<std::vector<std::shared_ptr<Context>>> CreateAll(
      std::span<const Device> devices, bool profiling);

  // Returns whether memory and events of the other context can be used in this one.
  bool SharesWith(const Context& other) const { return context() == other.context(); }

  const Device& device() const { return device_; }
  const DeviceInfo& info() const { return device_.info; }
  const std::string& name() const { return device_.info.name; }
  bool profiling() const { return profiling_; }
  cl_context context() const { return context_->get(); }
  cl_command_queue queue() const { return queue_.get(); }

  // Waits until all enqueued commands have run. An error of an earlier launch may be reported here.
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

#endif  // TG_RUNTIME_OPENCL_CL_CONTEXT_H_
