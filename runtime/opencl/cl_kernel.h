// A kernel object of OpenCL.
#ifndef TG_RUNTIME_OPENCL_CL_KERNEL_H_
#define TG_RUNTIME_OPENCL_CL_KERNEL_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "runtime/device/program.h"
#include "runtime/opencl/cl_check.h"
#include "runtime/opencl/cl_context.h"

namespace tg::runtime {

// Asks the driver for the kernel's limits. Errors call it `label`.
absl::StatusOr<std::unique_ptr<KernelObject>> NewClKernel(const OpenClContext& context,
                                                          ClKernel kernel,
                                                          const std::string& label);

}  // namespace tg::runtime

#endif  // TG_RUNTIME_OPENCL_CL_KERNEL_H_
