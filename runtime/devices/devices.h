// All devices of the machine: native ones, which are its processor, and those of OpenCL.
#ifndef TG_RUNTIME_DEVICES_DEVICES_H_
#define TG_RUNTIME_DEVICES_DEVICES_H_

#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "runtime/device/context.h"
#include "runtime/device/device.h"

namespace tg::runtime {

// The native devices, then those of OpenCL in its loader's order, so that a native one is the first
// CPU. If OpenCL fails, that is an error only where there is no native device.
absl::StatusOr<std::vector<Device>> ListDevices();

// The native devices if `wish` is one of them by the name "native" or "cpu", else all: OpenCL takes
// a while to load.
absl::StatusOr<std::vector<Device>> ListDevicesFor(std::string_view wish);

// ChooseDevice (runtime/device/device.h) among all of them.
absl::StatusOr<Device> ChooseDevice(std::string_view wish);

// Opens a device; `profiling` records the times of events.
absl::StatusOr<std::shared_ptr<Context>> OpenContext(const Device& device, bool profiling);
// One context per element of `devices`, in order. Equal devices get the same context.
absl::StatusOr<std::vector<std::shared_ptr<Context>>> OpenContexts(std::span<const Device> devices,
                                                                   bool profiling);

// The user's objects of OpenCL: a cl_context and a cl_command_queue.
struct OpenClHandles {
  void* context = nullptr;
  void* queue = nullptr;
};
// A context on them. The queue runs commands in order; null: one is made for a device of the
// OpenCL context that `wish` selects (ChooseDevice). `context` may be null if there is a queue.
absl::StatusOr<std::shared_ptr<Context>> AdoptContext(const OpenClHandles& handles,
                                                      std::string_view wish = "",
                                                      bool profiling = false);

}  // namespace tg::runtime

#endif  // TG_RUNTIME_DEVICES_DEVICES_H_
