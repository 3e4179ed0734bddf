// From a module and the devices that are chosen for it to what a session needs.
#ifndef TG_RUNTIME_SESSION_OPEN_DEVICES_H_
#define TG_RUNTIME_SESSION_OPEN_DEVICES_H_

#include <span>
#include <string_view>

#include "absl/status/status.h"
#include "ir/module.h"
#include "passes/pass_manager.h"
#include "runtime/session/choose_devices.h"
#include "runtime/session/device_session.h"

namespace tg::runtime {

// Opens the devices, those of one platform together, and chooses targets (ChooseTarget with
// `wish`). Fills in what `options` says about devices. With `profiling`, kernels can be timed.
absl::Status OpenDevices(const Module& module, std::span<const ChosenDevice> chosen,
                         std::string_view wish, bool profiling, DeviceSessionOptions& options);

// Runs the pipeline for these devices. What comes before kernels is done once, for the first one's
// target, then kernels are compiled for each target. `passes` has no target of its own.
absl::Status CompileForDevices(Module& module, const Pipeline& pipeline, PassManagerOptions passes,
                               DeviceSessionOptions& options);

}  // namespace tg::runtime

#endif  // TG_RUNTIME_SESSION_OPEN_DEVICES_H_
