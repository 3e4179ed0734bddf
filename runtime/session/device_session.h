// DeviceSession: a session on OpenCL devices: one, or as many as the module's buffers name.
#ifndef TG_RUNTIME_SESSION_DEVICE_SESSION_H_
#define TG_RUNTIME_SESSION_DEVICE_SESSION_H_

#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "passes/target.h"
#include "runtime/plan/plan.h"
#include "runtime/session/device_kernels.h"
#include "runtime/session/session.h"

namespace tg::runtime {

// A device beside the first one.
struct NamedDevice {
  std::vector<std::string> names;  // of the module's buffers that are there
  std::shared_ptr<Context> context;
  Target target;
  // The session's module, compiled for `target`: its kernels stand in the same order. Null: the
  // session's own is.
  std::shared_ptr<const Module> module;
};

struct DeviceSessionOptions : BuildOptions {
  // The only device, whatever the module calls it, or the first one; and what the module was
  // compiled for.
  std::shared_ptr<Context> context;
  Target target;
  std::vector<std::string> names = {""};  // of the module's buffers that are on the first device
  std::vector<NamedDevice> others;
  bool time_kernels = false;  // needs contexts with profiling
};

// When a run happened and what its kernels and copies took.
struct RunTimes {
  int64_t start = 0, end = 0;        // HostNanos, from before the first enqueue to after the last
  std::vector<LaunchTimes> kernels;  // of each kernel of the plan; zeros for an empty kernel
  double seconds() const { return static_cast<double>(end - start) * 1e-9; }
};

class DeviceSession : public Session {
 public:
  // Renders and builds the kernels of the module, which must be linear (compile.h), for the devices
  // that they run on. NotFound for a device of the module's that is not in the options.
  static absl::StatusOr<std::unique_ptr<DeviceSession>> Create(std::unique_ptr<Module> module,
                                                               DeviceSessionOptions options);

  // The first one is the options' `context`.
  std::span<const std::unique_ptr<DeviceKernels>> devices() const { return devices_; }
  bool built_from_cache() const;
  // Of all devices together.
  BufferPoolStats memory() const;

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
  // The plan of the graph with these variables.
  absl::StatusOr<Plan*> PlanFor(const Graph& graph, std::span<const BufferDecl* const> buffers,
                                const VarMap& vars);
  absl::StatusOr<BufferRef> BufferFor(const BufferDecl& buffer);
  absl::Status Finish() const;

  struct CachedPlan {
    CachedPlan(Plan p, VarMap v) : plan(std::move(p)), vars(std::move(v)) {}
    Plan plan;
    VarMap vars;
  };

  DeviceSessionOptions options_;
  std::vector<std::unique_ptr<DeviceKernels>> devices_;
  std::map<std::string, DeviceKernels*, std::less<>> by_name_;
  NamedBuffers buffers_;
  std::map<std::string, CachedPlan> plans_;  // by graph
  Plan* last_plan_ = nullptr;
  RunTimes times_;
};

}  // namespace tg::runtime

#endif  // TG_RUNTIME_SESSION_DEVICE_SESSION_H_
