// Derives the passes' target from a device that its driver describes.
#ifndef TG_RUNTIME_SESSION_DEVICE_TARGET_H_
#define TG_RUNTIME_SESSION_DEVICE_TARGET_H_

#include "absl/status/statusor.h"
#include "passes/target.h"
#include "runtime/device/device.h"

namespace tg::runtime {

// Returns the preset that fits the device best. If the device reports less than the preset (types,
// sizes of groups and of local memory), the reported limits replace the preset's.
passes::Target TargetForDevice(const DeviceInfo& device);

// Returns the target that a user requests: "" is `module_target`, or the device's own target if
// that is empty too; "host" is the device's own target; other texts name a preset or a target file
// (FindTarget).
absl::StatusOr<passes::Target> ChooseTarget(std::string_view wish, std::string_view module_target,
                                            const DeviceInfo& device);

}  // namespace tg::runtime

#endif  // TG_RUNTIME_SESSION_DEVICE_TARGET_H_
