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
#include "runtime/opencl/cl_check.h"
#include "runtime/opencl/cl_context.h"
#include "runtime/opencl/disk_cache.h"

namespace tg::runtime {

// A built program. Kernels made from it keep it alive.
class Program {
 public:
  Program(std::shared_ptr<Context> context, ClProgram program, bool from_cache)
      : context_(std::move(context)), program_(std::move(program)), from_cache_(from_cache) {}

  const std::shared_ptr<Context>& context() const { return context_; }
  cl_program program() const { return program_.get(); }
  bool from_cache() const { return from_cache_; }

  // Makes a new kernel object, which has separate arguments. NotFound (with the existing kernels)
  // for an unknown name.
  absl::StatusOr<ClKernel> CreateKernel(const std::string& name) const;

  // Returns the sorted names of the kernels.
  absl::StatusOr<std::vector<std::string>> KernelNames() const;

 private:
  std::shared_ptr<Context> context_;
  ClProgram program_;
  bool from_cache_;
};

// Returns a program's cache key: all inputs that determine its binary, as text.
std::string ProgramKey(const DeviceInfo& device, std::string_view source, std::string_view options);

// Builds `source` with the compiler's `options`, or loads it from `cache` (which may be null). If
// the driver rejects a cached binary, the entry is removed and the source is built. InvalidArgument
// if the compiler rejects the source; the message has the first error with its source line,
// followed by the compiler's log.
absl::StatusOr<std::shared_ptr<const Program>> BuildProgram(std::shared_ptr<Context> context,
                                                            const std::string& source,
                                                            const std::string& options,
                                                            DiskCache* cache);

// Returns whether caching binaries is faster on this device. It is not on PoCL, which has its own
// cache keyed by source, and which compiles every kernel again when asked for the binary.
bool CachingPays(const DeviceInfo& device);

}  // namespace tg::runtime

#endif  // TG_RUNTIME_OPENCL_CL_PROGRAM_H_
