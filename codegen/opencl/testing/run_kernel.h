// For tests: builds a rendered kernel on this machine's OpenCL and runs it, apart from tg's
// runtime.
#ifndef TG_CODEGEN_OPENCL_TESTING_RUN_KERNEL_H_
#define TG_CODEGEN_OPENCL_TESTING_RUN_KERNEL_H_

#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "codegen/opencl/launch.h"
#include "ir/interpret/host_buffer.h"

namespace tg {

// Whether there is a device: a CPU, unless the environment names another kind by
// TG_TEST_DEVICE=gpu.
bool HaveDevice();

// Runs `kernel`, whose function is in `source`, on buffers by slot and puts back what it wrote.
// Errors hold the compiler's log.
absl::Status RunOnDevice(const std::string& source, const RenderedKernel& kernel,
                         std::span<HostBuffer> buffers, const VarValues& vars);

}  // namespace tg

#endif  // TG_CODEGEN_OPENCL_TESTING_RUN_KERNEL_H_
