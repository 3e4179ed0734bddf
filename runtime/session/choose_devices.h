// Maps a module's devices to the machine's devices.
#ifndef TG_RUNTIME_SESSION_CHOOSE_DEVICES_H_
#define TG_RUNTIME_SESSION_CHOOSE_DEVICES_H_

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "ir/module.h"
#include "runtime/opencl/device.h"

namespace tg::runtime {

// A user's device requests; each has the syntax of ChooseDevice.
struct DeviceWishes {
  std::string plain;                                      // request for the default device
  std::map<std::string, std::string, std::less<>> named;  // requests by the module's device name
};

// Parses texts like "gpu", which is plain, and "GPU:1=cpu:1". InvalidArgument if a device is given
// twice.
absl::StatusOr<DeviceWishes> ParseDeviceWishes(std::span<const std::string> texts);

// A device of the module, and the machine's device for it.
struct ChosenDevice {
  std::string name;  // "" is the default device
  Device device;
};

// Returns the device for each name that the module's graphs use, the default one first; the result
// is not empty. A name without a request serves as its request. If the module has a single device,
// the plain request applies to it, whatever its name. NotFound names the device and the place in
// the module that requests it. InvalidArgument reports a request for a device that the module
// lacks.
absl::StatusOr<std::vector<ChosenDevice>> ChooseDevices(const Module& module,
                                                        const DeviceWishes& wishes,
                                                        std::span<const Device> devices);

}  // namespace tg::runtime

#endif  // TG_RUNTIME_SESSION_CHOOSE_DEVICES_H_
