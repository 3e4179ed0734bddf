// For tests: an opened device.
#ifndef TG_RUNTIME_OPENCL_TESTING_H_
#define TG_RUNTIME_OPENCL_TESTING_H_

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>

#include "runtime/opencl/cl_context.h"
#include "runtime/opencl/list_devices.h"

namespace tg::runtime {

// Opens the OpenCL device that $TG_DEVICE names (see ChooseDevice), with profiling. Ends the
// process if there is none, since these tests need OpenCL.
inline std::shared_ptr<OpenClContext> TestContext() {
  const char* wish = std::getenv("TG_DEVICE");
  const auto devices = ListOpenClDevices();
  const absl::StatusOr<Device> device =
      devices.ok() ? ChooseDevice(*devices, wish == nullptr ? "" : wish) : devices.status();
  absl::StatusOr<std::shared_ptr<OpenClContext>> context =
      device.ok() ? OpenClContext::Create(*device, /*profiling=*/true)
                  : absl::StatusOr<std::shared_ptr<OpenClContext>>(device.status());
  if (!context.ok()) {
    std::fprintf(stderr, "%s\n", std::string(context.status().message()).c_str());
    std::abort();
  }
  return *context;
}

}  // namespace tg::runtime

#endif  // TG_RUNTIME_OPENCL_TESTING_H_
