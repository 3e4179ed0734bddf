// Which of the machine's devices a module's devices are.
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

// What a user says; each wish is as for ChooseDevice.
struct DeviceWishes {
  std::string plain;                                      // of the default device
  std::map<std::string, std::string, std::less<>> named;  // by the name that the module gives it
};

// Of texts like "gpu", which is plain, and "GPU:1=cpu:1". InvalidArgument where one is given twice.
absl::StatusOr<DeviceWishes> ParseDeviceWishes(std::span<const std::string> texts);

// A device of the module, and what it is here.
struct ChosenDevice {
  std::string name;  // "" the default one
  Device device;
};

// The device of each name that the module's graphs use, the default one first; there is at least
// one. A name without a wish is a wish itself. Where the module has a single device, whatever it is
// called, the plain wish is for it. NotFound names the device and the place in the module that asks
// for it; InvalidArgument a wish for what the module has not.
absl::StatusOr<std::vector<ChosenDevice>> ChooseDevices(const Module& module,
                                                        const DeviceWishes& wishes,
                                                        std::span<const Device> devices);

}  // namespace tg::runtime

#endif  // TG_RUNTIME_SESSION_CHOOSE_DEVICES_H_
