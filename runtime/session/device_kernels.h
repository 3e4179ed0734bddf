// DeviceKernels: a session's resources on one device: its memory, and the rendered and built
// kernels that run there.
#ifndef TG_RUNTIME_SESSION_DEVICE_KERNELS_H_
#define TG_RUNTIME_SESSION_DEVICE_KERNELS_H_

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "codegen/opencl/renderer.h"
#include "ir/module.h"
#include "passes/target.h"
#include "runtime/base/spans.h"
#include "runtime/cache/disk_cache.h"
#include "runtime/device/buffer_pool.h"
#include "runtime/opencl/compile_ahead.h"
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

// A linear kernel and its name in the session's module.
struct NamedKernel {
  std::string name;
  const Kernel* kernel = nullptr;
};

class DeviceKernels {
 public:
  // `names`: the names of this device in the module's buffers.
  DeviceKernels(std::vector<std::string> names, std::shared_ptr<Context> context,
                passes::Target target);

  // Renders and builds kernels of a linear module, which must outlive this object. They are built
  // as one program, or as a few concurrent programs if the driver compiles on several threads or
  // worker processes compile for it.
  absl::Status Build(const Module& module, std::vector<NamedKernel> kernels,
                     const BuildOptions& options);

  const std::vector<std::string>& names() const { return names_; }
  const std::shared_ptr<Context>& context() const { return context_; }
  const passes::Target& target() const { return target_; }
  BufferPool& pool() { return pool_; }
  const BufferPool& pool() const { return pool_; }

  // The built kernels and their renderings, in the same order.
  std::span<const NamedKernel> kernels() const { return kernels_; }
  std::span<const codegen::RenderedKernel> rendered() const { return rendered_; }
  const BuiltKernels& built() const { return built_; }
  bool from_cache() const { return from_cache_; }

 private:
  absl::Status BuildNatively(const Module& module, const BuildOptions& options);

  // Kernels that are built as one program, by their numbers, and its source.
  struct Part {
    std::vector<size_t> kernels;
    std::string source;
  };

  std::vector<Part> Partition(const BuildOptions& options) const;
  bool CompileParts(const Module& module, std::span<const Part> parts, const std::string& flags,
                    const BuildOptions& options) const;
  absl::Status BuildParts(std::span<const Part> parts, const std::string& flags,
                          const BuildOptions& options);

  std::vector<std::string> names_;
  std::shared_ptr<Context> context_;
  passes::Target target_;
  BufferPool pool_;
  std::vector<NamedKernel> kernels_;
  std::vector<codegen::RenderedKernel> rendered_;
  BuiltKernels built_;
  bool from_cache_ = false;
};

}  // namespace tg::runtime

#endif  // TG_RUNTIME_SESSION_DEVICE_KERNELS_H_
