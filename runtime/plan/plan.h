// Plan: a graph ready to run on a device again and again. An ordered list of launches with every
// argument resolved; a replay allocates nothing.
//
// Inputs, outputs, params and states live in buffers that the caller gives and keeps; several plans
// of one module may share them. Temporaries belong to the plan and share memory where their lives
// do not overlap (memory_plan.h). Everything runs in the order of the device's queue, so a plan may
// be enqueued again before its last run has ended.
//
// A graph over several devices has a queue for each. Copies between them wait for what they read,
// and whoever overwrites it for them (hazards.h); when all is enqueued, the queues wait for each
// other.
#ifndef TG_RUNTIME_PLAN_PLAN_H_
#define TG_RUNTIME_PLAN_PLAN_H_

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "codegen/opencl/launch.h"
#include "ir/module.h"
#include "runtime/opencl/buffer_pool.h"
#include "runtime/opencl/launch.h"
#include "runtime/opencl/transfer.h"
#include "runtime/plan/hazards.h"
#include "runtime/plan/kernel_stats.h"
#include "runtime/plan/memory_plan.h"
#include "runtime/plan/schedule.h"

namespace tg::runtime {

using NamedBuffers = std::map<std::string, BufferRef, std::less<>>;
using VarMap = std::map<std::string, int64_t, std::less<>>;

// A kernel, what was rendered of it, and the program that holds that.
struct BuiltKernel {
  const Kernel* kernel = nullptr;  // linear
  const RenderedKernel* rendered = nullptr;
  std::shared_ptr<const Program> program;
};
using BuiltKernels = std::map<std::string, BuiltKernel, std::less<>>;  // by name in the module

// What there is on one device.
struct PlanDevice {
  std::string name;  // as the module's buffers say; "" the default one
  const BuiltKernels* kernels = nullptr;
  BufferPool* pool = nullptr;  // for temporaries
};

// Bytes to allocate for a buffer: symbolic extents count with the upper bound of their variable.
// InvalidArgument where the product overflows or the variable is not declared; Unimplemented for
// images.
absl::StatusOr<size_t> BufferBytes(const Module& module, const BufferDecl& buffer);

// The shape that the variables make of the declared one. InvalidArgument for a missing variable.
absl::StatusOr<std::vector<int64_t>> ShapeOf(const BufferDecl& buffer, const VarMap& vars);

// One launch or copy, for who reports.
struct PlannedKernel {
  const Kernel* kernel = nullptr;    // null: a copy between devices
  const Context* context = nullptr;  // where it runs; of a copy, the receiver
  NDRange range;
  bool empty = false;  // no work-items with the present variables: is not launched
  size_t num_args = 0;
  size_t buffer_bytes = 0;  // of its distinct buffers, as far as the kernel is given them
  KernelWork work;
};

class Plan {
 public:
  // Resolves and allocates everything. `devices` are those of the graph's buffers; `buffers` holds
  // every one that is not temporary; `vars` gives each variable a value within its bounds. The
  // module outlives the plan. Errors name the kernel and the buffer or variable.
  static absl::StatusOr<Plan> Create(const Module& module, const Graph& graph,
                                     std::span<const PlanDevice> devices,
                                     const NamedBuffers& buffers, const VarMap& vars);
  Plan(Plan&&) = default;
  Plan& operator=(Plan&&) = default;

  // Other values for the variables: sets arguments and grids that depend on them.
  absl::Status SetVars(const VarMap& vars);

  // Enqueues all kernels and copies. With `events`, one for each is put there; unset for an empty
  // kernel.
  absl::Status Enqueue(std::vector<ClEvent>* events = nullptr);

  // The times of kernel or copy `i`, from the event that Enqueue gave for it: waits for its end.
  absl::StatusOr<LaunchTimes> TimesOf(size_t i, const ClEvent& event) const;

  std::span<const PlannedKernel> kernels() const { return kernels_; }
  // Of all devices together.
  const MemoryBytes& temporaries() const { return temporaries_; }

 private:
  // How a launch depends on variables.
  struct VarArg {
    size_t index = 0;  // of the argument
    std::string name;
    bool wide = false;  // 64 bits
  };
  struct Step {
    std::optional<Launch> launch;
    std::optional<Transfer> transfer;  // in place of a launch
    const RenderedKernel* rendered = nullptr;
    std::vector<VarArg> var_args;
    VarMap bound;  // what the graph binds
  };
  // Of several devices: what is enqueued for a step. A transfer through the host is two.
  struct Enqueued {
    size_t step = 0;
    const Context* queue = nullptr;
    bool reads = false;         // the first of the two
    std::vector<size_t> waits;  // for these commands, by number
    bool is_waited_for = false;
  };

  explicit Plan(const Module& module) : module_(&module) {}

  absl::StatusOr<const PlanDevice*> DeviceOf(const BufferDecl& buffer) const;
  absl::Status AllocateTemporaries(const Graph& graph, std::span<const ScheduledKernel> schedule,
                                   const NamedBuffers& given);
  absl::Status AddStep(const ScheduledKernel& item) {
    return item.kernel ? AddLaunch(item) : AddTransfer(item);
  }
  absl::Status AddLaunch(const ScheduledKernel& item);
  absl::Status AddTransfer(const ScheduledKernel& item);
  absl::StatusOr<BufferRef> Resolve(const BufferSlice& slice) const;
  // Updates kernels_[i] and the launch's range.
  absl::Status SetStepVars(size_t i, const VarMap& vars);
  // Where there are several queues: what waits for what.
  void FindHazards(std::span<const ScheduledKernel> schedule);
  absl::Status EnqueueOnSeveral(std::vector<ClEvent>* events);
  // Every queue waits for what is enqueued on the others.
  absl::Status Join() const;

  const Module* module_;
  std::map<std::string, PlanDevice, std::less<>> devices_;  // by name
  std::vector<BufferRef> buffers_;  // by index in the module; null where the graph has no use
  MemoryBytes temporaries_;
  std::vector<Step> steps_;
  std::vector<PlannedKernel> kernels_;  // parallel to steps_
  std::vector<Enqueued> commands_;      // empty where one queue is all
  std::vector<const Context*> queues_;
};

}  // namespace tg::runtime

#endif  // TG_RUNTIME_PLAN_PLAN_H_
