// Reads a device's capabilities.
#ifndef TG_RUNTIME_OPENCL_DEVICE_INFO_H_
#define TG_RUNTIME_OPENCL_DEVICE_INFO_H_

#include <CL/cl.h>

#include "absl/status/statusor.h"
#include "runtime/opencl/device.h"

namespace tg::runtime {

// An error where the device does not answer what OpenCL 1.2 requires; optional properties that it
// does not know keep their defaults.
absl::StatusOr<DeviceInfo> QueryDevice(cl_platform_id platform, cl_device_id device);

}  // namespace tg::runtime

#endif  // TG_RUNTIME_OPENCL_DEVICE_INFO_H_
