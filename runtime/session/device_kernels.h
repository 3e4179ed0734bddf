// DeviceKernels: a session's resources on one device: its memory, and the built kernels that run
// there.
#ifndef TG_RUNTIME_SESSION_DEVICE_KERNELS_H_
#define TG_RUNTIME_SESSION_DEVICE_KERNELS_H_

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "ir/decls.h"
#include "runtime/base/spans.h"
#include "runtime/cache/disk_cache.h"
#include "runtime/device/buffer_pool.h"
#include "runtime/opencl/compile_ahead.h"
#include "runtime/plan/executable.h"
#include "runtime/plan/plan.h"

namespace tg::runtime {

struct BuildOptions {
  // Options for the OpenCL compiler: no warnings. Correctly rounded division and square root are
  // requested if the device has them.
  std::string build_options = "-w";
  DiskCache* cache = nullptr;  // of compiled programs; null disables caching
  CompileAheadOptions ahead;   // workers that compile for PoCL; they need `cache`
  SpanLog* spans = nullptr;    // durations of compilation steps
};

class DeviceKernels {
 public:
  // `code` outlives this object.
  DeviceKernels(const DeviceCode& code, std::shared_ptr<Context> context);
  // The same kernels, as they are built, with a pool for the new object alone.
  DeviceKernels(const DeviceKernels& other);

  // Builds the programs, concurrently if the driver compiles on several threads or worker processes
  // compile for it; for a native device, its kernels. `decls` has the variables of the kernels.
  absl::Status Build(const Declarations& decls, const BuildOptions& options);

  const DeviceCode& code() const { return code_; }
  const std::vector<std::string>& names() const { return code_.names; }
  const std::shared_ptr<Context>& context() const { return context_; }
  BufferPool& pool() { return pool_; }
  const BufferPool& pool() const { return pool_; }

  std::span<const CompiledKernel> kernels() const { return code_.kernels; }
  const BuiltKernels& built() const { return built_; }
  bool from_cache() const { return from_cache_; }

 private:
  absl::Status BuildNatively(const BuildOptions& options);
  bool CompileParts(const Declarations& decls, const std::string& flags,
                    const BuildOptions& options) const;
  absl::Status BuildPrograms(const std::string& flags, const BuildOptions& options);

  const DeviceCode& code_;
  std::shared_ptr<Context> context_;
  BufferPool pool_;
  BuiltKernels built_;
  bool from_cache_ = false;
};

// The options of OpenCL's compiler for a device.
std::string CompilerOptions(const DeviceInfo& device, const BuildOptions& options);

// The number of programs of which a device compiles `kernels` kernels fastest.
size_t NumPrograms(size_t kernels, const DeviceInfo& device, const BuildOptions& options);

}  // namespace tg::runtime

#endif  // TG_RUNTIME_SESSION_DEVICE_KERNELS_H_
