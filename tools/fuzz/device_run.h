// Runs compiled programs on an OpenCL device.
#ifndef TG_TOOLS_FUZZ_DEVICE_RUN_H_
#define TG_TOOLS_FUZZ_DEVICE_RUN_H_

#include <memory>
#include <string_view>

#include "absl/status/statusor.h"
#include "ir/testing/random_graph.h"
#include "passes/target.h"
#include "runtime/device/context.h"

namespace tg::fuzz {

// The target of programs that run on this device, as the runtime chooses it, without loading OpenCL
// here; the preset cl-cpu if there is no such device.
passes::Target TargetFor(std::string_view device);

class DeviceRunner {
 public:
  // `device` as for runtime::ChooseDevice. Must be called in the process that runs the kernels.
  static absl::StatusOr<DeviceRunner> Open(std::string_view device);

  // `compiled`: the program's module with linear kernels. Returns the final contents of the buffers
  // of `expected`.
  absl::StatusOr<interpret::HostBuffers> Run(std::unique_ptr<Module> compiled,
                                             const passes::Target& target,
                                             const testing::RandomProgram& program,
                                             const interpret::HostBuffers& expected) const;

 private:
  explicit DeviceRunner(std::shared_ptr<runtime::Context> context) : context_(std::move(context)) {}
  std::shared_ptr<runtime::Context> context_;
};

}  // namespace tg::fuzz

#endif  // TG_TOOLS_FUZZ_DEVICE_RUN_H_
