// OpenCL C source made into kernels: one build for all kernels of a program, kept on disk.
#ifndef TG_RUNTIME_OPENCL_PROGRAM_H_
#define TG_RUNTIME_OPENCL_PROGRAM_H_

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "runtime/opencl/cl_check.h"
#include "runtime/opencl/context.h"
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

  // A new kernel object, with arguments of its own. NotFound (with the kernels there are) for an
  // unknown name.
  absl::StatusOr<ClKernel> CreateKernel(const std::string& name) const;

  // The names of the kernels, sorted.
  absl::StatusOr<std::vector<std::string>> KernelNames() const;

 private:
  std::shared_ptr<Context> context_;
  ClProgram program_;
  bool from_cache_;
};

// What a program is cached under: everything that its binary depends on, as text.
std::string ProgramKey(const DeviceInfo& device, std::string_view source, std::string_view options);

// Builds `source` with the compiler's `options`, or loads it from `cache` (which may be null). A
// cached binary that the driver refuses is forgotten, and the source is built. InvalidArgument
// where the compiler refuses the source: its first error with the line of the source, then the
// compiler's log.
absl::StatusOr<std::shared_ptr<const Program>> BuildProgram(std::shared_ptr<Context> context,
                                                            const std::string& source,
                                                            const std::string& options,
                                                            DiskCache* cache);

// Whether keeping binaries pays on this device. Not on PoCL, which keeps its own by source, and
// compiles every kernel once more when asked for the binary (40 ms each).
bool CachingPays(const DeviceInfo& device);

}  // namespace tg::runtime

#endif  // TG_RUNTIME_OPENCL_PROGRAM_H_
