// DeviceSession: a session on an OpenCL device.
#ifndef TG_RUNTIME_SESSION_DEVICE_SESSION_H_
#define TG_RUNTIME_SESSION_DEVICE_SESSION_H_

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "codegen/opencl/renderer.h"
#include "passes/target.h"
#include "runtime/base/spans.h"
#include "runtime/opencl/disk_cache.h"
#include "runtime/plan/plan.h"
#include "runtime/session/session.h"

namespace tg::runtime {

struct DeviceSessionOptions {
  std::shared_ptr<Context> context;
  Target target;  // what the module was compiled for
  // For the OpenCL compiler: no warnings. Division and square root are asked to be correctly
  // rounded where the device can do that.
  std::string build_options = "-w";
  DiskCache* cache = nullptr;  // of compiled programs; null: none
  bool time_kernels = false;   // needs a context with profiling
  SpanLog* spans = nullptr;    // what took how long
};

// When a run happened and what its kernels took.
struct RunTimes {
  int64_t start = 0, end = 0;        // HostNanos, from before the first enqueue to after the last
  std::vector<LaunchTimes> kernels;  // of each kernel of the plan; zeros for an empty kernel
  double seconds() const { return static_cast<double>(end - start) * 1e-9; }
};

class DeviceSession : public Session {
 public:
  // Renders and builds all kernels of the module, which must be linear (compile.h). They are built
  // in one program, or in a few at the same time where the driver compiles on several threads.
  static absl::StatusOr<std::unique_ptr<DeviceSession>> Create(std::unique_ptr<Module> module,
                                                               DeviceSessionOptions options);

  // In the order of the module's kernels.
  std::span<const RenderedKernel> rendered() const { return rendered_; }
  bool built_from_cache() const { return from_cache_; }
  BufferPoolStats memory() const { return pool_.stats(); }

  // Of the graph that ran last. Null before that.
  const Plan* last_plan() const { return last_plan_; }
  const RunTimes& last_times() const { return times_; }

 protected:
  absl::Status Upload(const BufferDecl& buffer, std::span<const int64_t> shape,
                      std::span<const std::byte> bytes) override;
  absl::Status Download(const BufferDecl& buffer, HostTensor& tensor) override;
  absl::Status Execute(const Graph& graph, std::span<const BufferDecl* const> buffers,
                       const VarMap& vars) override;

 private:
  DeviceSession(std::unique_ptr<Module> module, DeviceSessionOptions options);
  absl::Status Build();
  absl::Status BuildPrograms(std::span<const std::string> sources, size_t kernels_each);
  // The plan of the graph with these variables.
  absl::StatusOr<const Plan*> PlanFor(const Graph& graph,
                                      std::span<const BufferDecl* const> buffers,
                                      const VarMap& vars);
  absl::StatusOr<BufferRef> BufferFor(const BufferDecl& buffer);

  struct CachedPlan {
    CachedPlan(Plan p, VarMap v) : plan(std::move(p)), vars(std::move(v)) {}
    Plan plan;
    VarMap vars;
  };

  DeviceSessionOptions options_;
  BufferPool pool_;
  std::vector<RenderedKernel> rendered_;
  BuiltKernels built_;
  bool from_cache_ = false;
  NamedBuffers buffers_;
  std::map<std::string, CachedPlan> plans_;  // by graph
  const Plan* last_plan_ = nullptr;
  RunTimes times_;
};

}  // namespace tg::runtime

#endif  // TG_RUNTIME_SESSION_DEVICE_SESSION_H_
