#include "runtime/opencl/cl_context.h"

#include <map>
#include <utility>

namespace tg::runtime {

Context::Context(const Device& device, bool profiling, std::shared_ptr<const ClContext> context,
                 ClQueue queue)
    : device_(device),
      profiling_(profiling),
      context_(std::move(context)),
      queue_(std::move(queue)) {}

absl::StatusOr<std::shared_ptr<Context>> Context::Create(const Device& device, bool profiling) {
  TG_ASSIGN_OR_RETURN(const std::vector<std::shared_ptr<Context>> all,
                      CreateAll(std::span(&device, 1), profiling));
  return all[0];
}

absl::StatusOr<std::vector<std::shared_ptr<Context>>> Context::CreateAll(
    std::span<const Device> devices, bool profiling) {
  std::map<cl_platform_id, std::vector<const Device*>> by_platform;
  std::map<cl_device_id, std::shared_ptr<Context>> opened;
  for (const Device& device : devices) {
    if (opened.try_emplace(device.id).second) by_platform[device.platform].push_back(&device);
  }
  for (const auto& [platform, members] : by_platform) {
    std::vector<cl_device_id> ids;
    for (const Device* device : members) ids.push_back(device->id);
    const cl_context_properties properties[] = {
        CL_CONTEXT_PLATFORM, reinterpret_cast<cl_context_properties>(platform), 0};
    cl_int code = CL_SUCCESS;
    auto context = std::make_shared<const ClContext>(clCreateContext(
        properties, static_cast<cl_uint>(ids.size()), ids.data(), nullptr, nullptr, &code));
    TG_RETURN_IF_ERROR(ClStatus(code, "clCreateContext", members[0]->info.name));
    for (const Device* device : members) {
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
      // Every driver supports the 1.x call; OpenCL 1.2 devices lack its successor.
      ClQueue queue(clCreateCommandQueue(context->get(), device->id,
                                         profiling ? CL_QUEUE_PROFILING_ENABLE : 0, &code));
#pragma GCC diagnostic pop
      TG_RETURN_IF_ERROR(ClStatus(code, "clCreateCommandQueue", device->info.name));
      opened[device->id].reset(new Context(*device, profiling, context, std::move(queue)));
    }
  }
  std::vector<std::shared_ptr<Context>> out;
  for (const Device& device : devices) out.push_back(opened.at(device.id));
  return out;
}

absl::Status Context::Finish() const {
  return ClStatus(clFinish(queue_.get()), "clFinish", name());
}

}  // namespace tg::runtime
