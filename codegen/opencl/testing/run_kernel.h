// For tests: builds and runs a rendered kernel on this machine's OpenCL, independently of tg's
// runtime.
#ifndef TG_CODEGEN_OPENCL_TESTING_RUN_KERNEL_H_
#define TG_CODEGEN_OPENCL_TESTING_RUN_KERNEL_H_

#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "codegen/launch_data.h"
#include "ir/interpret/host_buffer.h"

namespace tg::opencl {

// Returns whether there is a device: a CPU, unless TG_TEST_DEVICE=gpu requests another kind.
bool HaveDevice();

// Runs `kernel`, whose function is in `source`, on buffers by slot, and copies its outputs back.
// Errors contain the compiler's log.
absl::Status RunOnDevice(const std::string& source, const codegen::RenderedKernel& kernel,
                         std::span<interpret::HostBuffer> buffers,
                         const interpret::VarValues& vars);

}  // namespace tg::opencl

#endif  // TG_CODEGEN_OPENCL_TESTING_RUN_KERNEL_H_
