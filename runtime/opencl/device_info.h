// Reads a device's capabilities.
#ifndef TG_RUNTIME_OPENCL_DEVICE_INFO_H_
#define TG_RUNTIME_OPENCL_DEVICE_INFO_H_

#include <CL/cl.h>

#include "absl/status/statusor.h"
#include "runtime/device/device.h"

namespace tg::runtime {

// Fails if the device does not report a property that OpenCL 1.2 requires. Optional properties that
// it does not report keep their defaults.
absl::StatusOr<DeviceInfo> QueryDevice(cl_platform_id platform, cl_device_id device);

}  // namespace tg::runtime

#endif  // TG_RUNTIME_OPENCL_DEVICE_INFO_H_
