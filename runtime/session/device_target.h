// From a device as its driver describes it to what passes know of it.
#ifndef TG_RUNTIME_SESSION_DEVICE_TARGET_H_
#define TG_RUNTIME_SESSION_DEVICE_TARGET_H_

#include "absl/status/statusor.h"
#include "passes/target.h"
#include "runtime/opencl/device.h"

namespace tg::runtime {

// The preset that suits the device best, with what the device reports in place of the preset's
// limits where the device has less: types, sizes of groups and of local memory.
Target TargetForDevice(const DeviceInfo& device);

// The target that a user means: "" is `module_target`, or where that is empty too the device's own;
// "host" the device's own; else the preset of that name.
absl::StatusOr<Target> ChooseTarget(std::string_view wish, std::string_view module_target,
                                    const DeviceInfo& device);

}  // namespace tg::runtime

#endif  // TG_RUNTIME_SESSION_DEVICE_TARGET_H_
