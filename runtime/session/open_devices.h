// Opens the devices that are chosen for a module and compiles the module for them.
#ifndef TG_RUNTIME_SESSION_OPEN_DEVICES_H_
#define TG_RUNTIME_SESSION_OPEN_DEVICES_H_

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "ir/module.h"
#include "passes/pass_manager.h"
#include "runtime/session/choose_devices.h"
#include "runtime/session/device_session_options.h"

namespace tg::runtime {

// Chooses among the machine's devices. If one native device is all that is requested,
// OpenCL is not loaded.
absl::StatusOr<std::vector<ChosenDevice>> ChooseDevices(const Module& module,
                                                        const DeviceRequest& request);

// Opens the devices, with one OpenCL context per platform, and chooses targets (ChooseTarget with
// `wish`). Sets the fields of `options` that concern devices. With `profiling`, kernels can be
// timed.
absl::Status OpenDevices(const Module& module, std::span<const ChosenDevice> chosen,
                         std::string_view wish, bool profiling, DeviceSessionOptions& options);

// Runs the pipeline for these devices. The stages before kernels run once, for the first device's
// target; then kernels are compiled for each target. `passes` must have no target.
absl::Status CompileForDevices(Module& module, const passes::Pipeline& pipeline,
                               passes::PassManagerOptions passes, DeviceSessionOptions& options);

// Gives the kernels of the pipeline the schedules of a file (docs/search.md) that were measured on
// the device that `options` have opened. The pass tells how many. InvalidArgument if the pipeline
// schedules no kernels.
absl::Status UseSchedules(const std::string& file, const DeviceSessionOptions& options,
                          passes::Pipeline& pipeline);

}  // namespace tg::runtime

#endif  // TG_RUNTIME_SESSION_OPEN_DEVICES_H_
