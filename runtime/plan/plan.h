// Plan: a graph ready to run on a device again and again. An ordered list of launches with every
// argument resolved; a replay allocates nothing.
//
// Inputs, outputs, params and states live in buffers that the caller gives and keeps; several plans
// of one module may share them. Temporaries belong to the plan and share memory where their lives
// do not overlap (memory_plan.h). Everything runs in the order of one queue, so a plan may be
// enqueued again before its last run has ended.
#ifndef TG_RUNTIME_PLAN_PLAN_H_
#define TG_RUNTIME_PLAN_PLAN_H_

#include <cstdint>
#include <map>
#include <memory>
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
#include "runtime/plan/kernel_stats.h"
#include "runtime/plan/memory_plan.h"
#include "runtime/plan/schedule.h"

namespace tg::runtime {

using NamedBuffers = std::map<std::string, BufferRef, std::less<>>;
using VarMap = std::map<std::string, int64_t, std::less<>>;

// A rendered kernel and the program that holds it. The kernel's name is its name in the module.
struct BuiltKernel {
  const RenderedKernel* rendered = nullptr;
  std::shared_ptr<const Program> program;
};
using BuiltKernels = std::map<std::string, BuiltKernel, std::less<>>;

// Bytes to allocate for a buffer: symbolic extents count with the upper bound of their variable.
// InvalidArgument where the product overflows or the variable is not declared; Unimplemented for
// images.
absl::StatusOr<size_t> BufferBytes(const Module& module, const BufferDecl& buffer);

// The shape that the variables make of the declared one. InvalidArgument for a missing variable.
absl::StatusOr<std::vector<int64_t>> ShapeOf(const BufferDecl& buffer, const VarMap& vars);

// One launch, for who reports.
struct PlannedKernel {
  const Kernel* kernel = nullptr;  // of the module that the plan was made from
  NDRange range;
  bool empty = false;  // no work-items with the present variables: is not launched
  size_t num_args = 0;
  size_t buffer_bytes = 0;  // of its distinct buffers, as far as the kernel is given them
  KernelWork work;
};

class Plan {
 public:
  // Resolves and allocates everything. `buffers` holds every buffer of the graph that is not
  // temporary; `vars` gives each variable a value within its bounds. The module outlives the plan.
  // Errors name the kernel and the buffer or variable.
  static absl::StatusOr<Plan> Create(const Module& module, const Graph& graph,
                                     const BuiltKernels& kernels, const NamedBuffers& buffers,
                                     const VarMap& vars, BufferPool& pool);
  Plan(Plan&&) = default;
  Plan& operator=(Plan&&) = default;

  // Other values for the variables: sets arguments and grids that depend on them.
  absl::Status SetVars(const VarMap& vars);

  // Enqueues all kernels. With `events`, one a kernel is put there; unset for an empty kernel.
  absl::Status Enqueue(std::vector<ClEvent>* events = nullptr) const;

  std::span<const PlannedKernel> kernels() const { return kernels_; }
  const MemoryPlan& temporaries() const { return memory_; }

 private:
  // How a launch depends on variables.
  struct VarArg {
    size_t index = 0;  // of the argument
    std::string name;
    bool wide = false;  // 64 bits
  };
  struct Step {
    Launch launch;
    const RenderedKernel* rendered = nullptr;
    std::vector<VarArg> var_args;
    VarMap bound;  // what the graph binds
  };

  explicit Plan(const Module& module) : module_(&module) {}

  absl::Status AllocateTemporaries(const Graph& graph, std::span<const ScheduledKernel> schedule,
                                   const NamedBuffers& given, BufferPool& pool);
  absl::Status AddStep(const ScheduledKernel& item, const BuiltKernels& kernels);
  absl::StatusOr<BufferRef> Resolve(const BufferSlice& slice) const;
  // Updates kernels_[i] and the launch's range.
  absl::Status SetStepVars(size_t i, const VarMap& vars);

  const Module* module_;
  std::vector<BufferRef> buffers_;  // by index in the module; null where the graph has no use
  MemoryPlan memory_;
  std::vector<Step> steps_;
  std::vector<PlannedKernel> kernels_;  // parallel to steps_
};

}  // namespace tg::runtime

#endif  // TG_RUNTIME_PLAN_PLAN_H_
