// The devices that a user requests for a run.
#ifndef TG_RUNTIME_SESSION_DEVICE_REQUEST_H_
#define TG_RUNTIME_SESSION_DEVICE_REQUEST_H_

#include <map>
#include <memory>
#include <span>
#include <string>

#include "absl/status/statusor.h"

namespace tg::runtime {

class Context;

// Each text has the syntax of ChooseDevice (runtime/device/device.h): "" is any device, "cpu",
// "gpu", "gpu:1", or a part of a device's name.
struct DeviceRequest {
  std::string plain;                                      // request for the default device
  std::map<std::string, std::string, std::less<>> named;  // requests by the module's device name
  bool specialize = true;  // sizes that come again get plans for themselves (docs/sizes.md)
  // The only device, which is open already: a session on the user's queue (AdoptContext), or on the
  // queue of another session.
  std::shared_ptr<Context> opened = nullptr;
};

// Parses texts like "gpu", which is plain, and "GPU:1=cpu:1". InvalidArgument if a device is given
// twice.
absl::StatusOr<DeviceRequest> ParseDeviceRequest(std::span<const std::string> texts);

}  // namespace tg::runtime

#endif  // TG_RUNTIME_SESSION_DEVICE_REQUEST_H_
