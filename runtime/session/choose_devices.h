// Maps a module's devices to the machine's devices.
#ifndef TG_RUNTIME_SESSION_CHOOSE_DEVICES_H_
#define TG_RUNTIME_SESSION_CHOOSE_DEVICES_H_

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "ir/module.h"
#include "runtime/device/context.h"
#include "runtime/device/device.h"
#include "runtime/session/device_request.h"

namespace tg::runtime {

// A device of the module, and the machine's device for it.
struct ChosenDevice {
  std::string name;  // "" is the default device
  Device device;
  std::shared_ptr<Context> context = nullptr;  // null: it is not open yet
};

// Returns the device for each name that the module's graphs use, the default device first; the
// result is not empty. A name that the request does not mention is used as a request itself (the
// module's "GPU:1" is then the second GPU). If the module has a single device, the request without
// a name applies to it, whatever its name is. Returns NotFound, with the name and the place in the
// module, if no device matches. Returns InvalidArgument if the request mentions a name that the
// module lacks.
absl::StatusOr<std::vector<ChosenDevice>> ChooseDevices(const Module& module,
                                                        const DeviceRequest& request,
                                                        std::span<const Device> devices);

}  // namespace tg::runtime

#endif  // TG_RUNTIME_SESSION_CHOOSE_DEVICES_H_
