// DeviceKernels: what a session has on one device: its memory, and the kernels that run there,
// rendered and built.
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
#include "runtime/opencl/buffer_pool.h"
#include "runtime/opencl/disk_cache.h"
#include "runtime/plan/plan.h"

namespace tg::runtime {

struct BuildOptions {
  // For the OpenCL compiler: no warnings. Division and square root are asked to be correctly
  // rounded where the device can do that.
  std::string build_options = "-w";
  DiskCache* cache = nullptr;  // of compiled programs; null: none
  SpanLog* spans = nullptr;    // what took how long
};

// A linear kernel and what the session's module calls it.
struct NamedKernel {
  std::string name;
  const Kernel* kernel = nullptr;
};

class DeviceKernels {
 public:
  // `names`: those of the module's buffers that are on this device.
  DeviceKernels(std::vector<std::string> names, std::shared_ptr<Context> context, Target target);

  // Renders and builds kernels of a linear module, which outlives this. They are built in one
  // program, or in a few at the same time where the driver compiles on several threads.
  absl::Status Build(const Module& module, std::vector<NamedKernel> kernels,
                     const BuildOptions& options);

  const std::vector<std::string>& names() const { return names_; }
  const std::shared_ptr<Context>& context() const { return context_; }
  const Target& target() const { return target_; }
  BufferPool& pool() { return pool_; }
  const BufferPool& pool() const { return pool_; }

  // What was built, and its renderings, in the same order.
  std::span<const NamedKernel> kernels() const { return kernels_; }
  std::span<const RenderedKernel> rendered() const { return rendered_; }
  const BuiltKernels& built() const { return built_; }
  bool from_cache() const { return from_cache_; }

 private:
  absl::Status BuildPrograms(std::span<const std::string> sources, size_t kernels_each,
                             const BuildOptions& options);

  std::vector<std::string> names_;
  std::shared_ptr<Context> context_;
  Target target_;
  BufferPool pool_;
  std::vector<NamedKernel> kernels_;
  std::vector<RenderedKernel> rendered_;
  BuiltKernels built_;
  bool from_cache_ = false;
};

}  // namespace tg::runtime

#endif  // TG_RUNTIME_SESSION_DEVICE_KERNELS_H_
