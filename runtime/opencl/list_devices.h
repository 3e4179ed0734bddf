// The OpenCL devices of the machine.
#ifndef TG_RUNTIME_OPENCL_LIST_DEVICES_H_
#define TG_RUNTIME_OPENCL_LIST_DEVICES_H_

#include <vector>

#include "absl/status/statusor.h"
#include "runtime/device/device.h"

namespace tg::runtime {

// Returns every available device of every platform, in the loader's order. An empty list is not an
// error; a platform that fails is skipped. This should make the first OpenCL call of the process:
// it sets POCL_AFFINITY=1 unless the user has set it. Without that, several of PoCL's threads may
// share one core. If PoCL cannot use its cache, it gets a temporary one (PreparePoclCache), of
// which a line on standard error tells.
absl::StatusOr<std::vector<Device>> ListOpenClDevices();

}  // namespace tg::runtime

#endif  // TG_RUNTIME_OPENCL_LIST_DEVICES_H_
