#include "runtime/opencl/context.h"

#include <utility>

namespace tg::runtime {

Context::Context(const Device& device, bool profiling, ClContext context, ClQueue queue)
    : device_(device),
      profiling_(profiling),
      context_(std::move(context)),
      queue_(std::move(queue)) {}

absl::StatusOr<std::shared_ptr<Context>> Context::Create(const Device& device, bool profiling) {
  cl_int code = CL_SUCCESS;
  const cl_context_properties properties[] = {
      CL_CONTEXT_PLATFORM, reinterpret_cast<cl_context_properties>(device.platform), 0};
  ClContext context(clCreateContext(properties, 1, &device.id, nullptr, nullptr, &code));
  TG_RETURN_IF_ERROR(ClStatus(code, "clCreateContext", device.info.name));
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
  // The 1.x call works on every driver; its successor is missing on OpenCL 1.2 devices.
  ClQueue queue(clCreateCommandQueue(context.get(), device.id,
                                     profiling ? CL_QUEUE_PROFILING_ENABLE : 0, &code));
#pragma GCC diagnostic pop
  TG_RETURN_IF_ERROR(ClStatus(code, "clCreateCommandQueue", device.info.name));
  return std::shared_ptr<Context>(
      new Context(device, profiling, std::move(context), std::move(queue)));
}

absl::Status Context::Finish() const {
  return ClStatus(clFinish(queue_.get()), "clFinish", name());
}

}  // namespace tg::runtime
