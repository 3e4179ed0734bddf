// Compiles OpenCL C source to kernels, with one build for all kernels of a program and a cache on
// disk.
#ifndef TG_RUNTIME_OPENCL_CL_PROGRAM_H_
#define TG_RUNTIME_OPENCL_CL_PROGRAM_H_

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "runtime/cache/disk_cache.h"
#include "runtime/device/program.h"
#include "runtime/opencl/cl_check.h"
#include "runtime/opencl/cl_context.h"

namespace tg::runtime {

// A built program. Kernels made from it keep it alive.
class OpenClProgram : public Program {
 public:
  OpenClProgram(std::shared_ptr<OpenClContext> context, ClProgram program, bool from_cache)
      : Program(std::move(context), from_cache), program_(std::move(program)) {}

  const OpenClContext& cl() const { return static_cast<const OpenClContext&>(*context()); }
  cl_program program() const { return program_.get(); }

  absl::StatusOr<std::unique_ptr<KernelObject>> NewKernel(const std::string& name,
                                                          const std::string& label) const override;
  // The same, as OpenCL's object.
  absl::StatusOr<ClKernel> CreateKernel(const std::string& name) const;

  // Returns the sorted names of the kernels.
  absl::StatusOr<std::vector<std::string>> KernelNames() const;

 private:
  ClProgram program_;
};

// Returns a program's cache key: all inputs that determine its binary, as text.
std::string ProgramKey(const DeviceInfo& device, std::string_view source, std::string_view options);

// Builds `source` with the compiler's `options`, or loads it from `cache` (which may be null). If
// the driver rejects a cached binary, the entry is removed and the source is built. InvalidArgument
// if the compiler rejects the source; the message has the first error with its source line,
// followed by the compiler's log. `binary`, if not empty, is tried first.
absl::StatusOr<std::shared_ptr<const OpenClProgram>> BuildProgram(
    std::shared_ptr<OpenClContext> context, const std::string& source, const std::string& options,
    DiskCache* cache, const std::string& binary = "");

// The program as the driver gives it out; empty if it gives none.
std::string BinaryOf(const OpenClProgram& program);

// Returns whether caching binaries is faster on this device. It is not on PoCL, which has its own
// cache keyed by source, and which compiles every kernel again when asked for the binary.
bool CachingPays(const DeviceInfo& device);

}  // namespace tg::runtime

#endif  // TG_RUNTIME_OPENCL_CL_PROGRAM_H_
