// For tests: an opened device.
#ifndef TG_RUNTIME_OPENCL_TESTING_H_
#define TG_RUNTIME_OPENCL_TESTING_H_

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>

#include "runtime/opencl/cl_context.h"

namespace tg::runtime {

// Opens the device that $TG_DEVICE names (see ChooseDevice), with profiling. Ends the process if
// there is none, since these tests need OpenCL.
inline std::shared_ptr<Context> TestContext() {
  const char* wish = std::getenv("TG_DEVICE");
  absl::StatusOr<Device> device = ChooseDevice(wish == nullptr ? "" : wish);
  absl::StatusOr<std::shared_ptr<Context>> context =
      device.ok() ? Context::Create(*device, /*profiling=*/true)
                  : absl::StatusOr<std::shared_ptr<Context>>(device.status());
  if (!context.ok()) {
    std::fprintf(stderr, "%s\n", std::string(context.status().message()).c_str());
    std::abort();
  }
  return *context;
}

}  // namespace tg::runtime

#endif  // TG_RUNTIME_OPENCL_TESTING_H_
