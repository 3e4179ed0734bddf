// Plan: a graph that is ready to run repeatedly on a device. It is an ordered list of launches
// whose arguments are resolved; a replay allocates nothing.
//
// The caller provides and keeps the buffers of inputs, outputs, params and states; several plans of
// one module may share them. The plan owns the temporaries, which are parts of one arena a device
// and share its bytes if their lifetimes do not overlap (memory_plan.h). Everything runs in the
// order of the device's queue, so a plan may be enqueued again before its previous run has ended.
//
// A graph over several devices has one queue per device. A copy between devices waits for the
// commands that write its source; commands that overwrite memory which a copy uses wait for the
// copy (queue_waits.h). After everything is enqueued, the queues wait for each other.
#ifndef TG_RUNTIME_PLAN_PLAN_H_
#define TG_RUNTIME_PLAN_PLAN_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "codegen/launch_data.h"
#include "ir/decls.h"
#include "runtime/device/buffer_pool.h"
#include "runtime/device/launch.h"
#include "runtime/device/transfer.h"
#include "runtime/plan/executable.h"
#include "runtime/plan/extents.h"
#include "runtime/plan/memory_plan.h"
#include "runtime/plan/queue_waits.h"

namespace tg::runtime {

using NamedBuffers = std::map<std::string, BufferRef, std::less<>>;

// A kernel and the program that contains it.
struct BuiltKernel {
  const CompiledKernel* kernel = nullptr;
  std::shared_ptr<const Program> program;
};
using BuiltKernels = std::map<int, BuiltKernel>;  // by index in Executable::kernel_names

using VarLookup = std::function<int64_t(std::string_view)>;
// Counts the work of a kernel that depends on variables (kernel_stats.h).
using WorkCounter =
    std::function<absl::StatusOr<KernelWork>(const CompiledKernel&, const VarLookup&)>;

// The resources of one device.
struct PlanDevice {
  std::string name;  // name in the module's buffers; "" is the default device
  const BuiltKernels* kernels = nullptr;
  BufferPool* pool = nullptr;   // for temporaries
  WorkCounter count_work = {};  // empty: work that depends on variables is not known, and is 0
};

// Data about one launch or copy, for reports.
struct PlannedKernel {
  const CompiledKernel* kernel = nullptr;  // null: a copy between devices
  const Context* context = nullptr;        // where it runs; the receiver for a copy
  NDRange range;
  bool empty = false;  // no work-items with the current variables; it is not launched
  size_t num_args = 0;
  size_t buffer_bytes = 0;       // distinct buffers, limited to the parts that the kernel gets
  int64_t trips = 1;             // how often loops run it; a loop with a condition counts once
  KernelWork work;               // of all of them
  bool depends_on_input = true;  // input_dependence.h
  std::vector<std::string> nodes, tensors;  // as in ScheduledKernel
};

class Plan {
 public:
  // Resolves and allocates everything. `devices` covers the devices of the graph's buffers;
  // `buffers` holds every buffer that is not temporary; `vars` gives each variable a value within
  // its bounds. The executable, which has the graph, must outlive the plan. Temporaries are
  // allocated for the greatest values of the variables that are not in `sizes`; a variable in
  // `sizes` must keep the value that it has there. Errors name the kernel and the buffer or
  // variable.
  static absl::StatusOr<Plan> Create(const Executable& executable, const ScheduledGraph& graph,
                                     std::span<const PlanDevice> devices,
                                     const NamedBuffers& buffers, const VarMap& vars,
                                     const VarMap& sizes = {});
  Plan(Plan&&) = default;
  Plan& operator=(Plan&&) = default;

  // Takes the buffers' memory from `buffers`, where it is other memory now. Returns false if it
  // cannot: a copy between devices or several queues were made for the former memory.
  absl::StatusOr<bool> Rebind(const NamedBuffers& buffers);

  // Changes the variables' values, and the arguments and grids that depend on them.
  absl::Status SetVars(const VarMap& vars);

  // Enqueues all kernels and copies. If `events` is given, it receives one event per step, unset
  // for an empty kernel.
  absl::Status Enqueue(std::vector<Event>* events = nullptr);

  // Calls run(i) for the steps in the order of a run, with the variables and buffers of the
  // iterations that they are in. The caller enqueues step i.
  absl::Status ForEachStep(const std::function<absl::Status(size_t)>& run);

  // Enqueues kernel or copy `i` alone, for a caller that waits for the end of all queues before and
  // after it.
  absl::Status EnqueueStep(size_t i);

  // Returns the kernel or copy of step `i` with the parts of buffers that it gets.
  const ScheduledKernel& step(size_t i) const { return graph_->steps[i]; }
  // Returns the values of variables in step `i`, whether the run or the graph gives them.
  VarMap VarsOf(size_t i) const;
  // Returns the variables that the graph measures, with the values of the last run.
  const VarMap& measured() const { return measured_; }
  // Returns the memory of a buffer by its index in the module; null if the graph does not use it.
  const BufferRef& buffer(int index) const { return buffers_[static_cast<size_t>(index)]; }

  // Waits for the end of kernel or copy `i` and returns its times; in a loop, those of its last
  // run, started earlier by the times of the others. `event` is the one that Enqueue returned for
  // it.
  absl::StatusOr<LaunchTimes> TimesOf(size_t i, const Event& event) const;

  // Counts the kernels' work with the current variables, which takes longer than a replay.
  std::span<const PlannedKernel> kernels() const;
  // Total of all devices.
  const MemoryBytes& temporaries() const { return temporaries_; }

 private:
  // An argument of a launch that is a variable.
  struct VarArg {
    size_t index = 0;  // index of the argument
    std::string name;
    bool wide = false;  // the argument has 64 bits
  };
  // An argument of a launch that is a buffer of a loop's pair.
  struct PairArg {
    size_t step = 0, index = 0;  // the step, and the index of its argument
    BufferSlice slice;
  };
  struct Step {
    std::optional<Launch> launch;
    std::optional<Transfer> transfer;  // replaces the launch for a copy
    const codegen::RenderedKernel* rendered = nullptr;
    const WorkCounter* count_work = nullptr;
    std::vector<VarArg> var_args;
    VarMap bound;                // variables bound by the graph
    std::vector<Event> earlier;  // of the last run, in a loop: the events but the last one
    bool has_counter = false;    // an argument or the grid depends on the number of an iteration
  };
  // A command that is enqueued for a step, for plans over several devices. A transfer through the
  // host has two commands.
  struct Enqueued {
    size_t step = 0;
    const Context* queue = nullptr;
    bool reads = false;         // the read of a transfer through the host
    std::vector<size_t> waits;  // numbers of the commands to wait for
    bool is_waited_for = false;
  };

  Plan(const Executable& executable, const ScheduledGraph& graph)
      : executable_(&executable), graph_(&graph) {}

  absl::StatusOr<const PlanDevice*> DeviceOf(const BufferDecl& buffer) const;
  absl::Status AllocateTemporaries(const NamedBuffers& given);
  absl::Status AddStep(const ScheduledKernel& item) {
    return item.is_copy() ? AddTransfer(item) : AddLaunch(item);
  }
  absl::Status AddLaunch(const ScheduledKernel& item);
  absl::Status AddTransfer(const ScheduledKernel& item);
  absl::StatusOr<BufferRef> Resolve(const BufferSlice& slice) const;
  // The value of a variable in step i; `missing` receives the name of one without a value.
  int64_t VarOf(size_t i, std::string_view name, std::string* missing) const;
  // Loops: plan_loops.cc. They have numbers in the graph's list.
  using RunStep = std::function<absl::Status(size_t)>;
  absl::Status CreateLoops();
  // Runs steps [first, last), with the loops from `loop` on that are inside them.
  absl::Status RunSteps(size_t first, size_t last, size_t loop, const RunStep& run);
  absl::Status RunLoop(size_t number, const RunStep& run);
  absl::Status Iterate(size_t number, const RunStep& run, bool* is_swapped);
  absl::StatusOr<int64_t> TripOf(const ScheduledLoop& loop) const;
  // How often step i runs; a loop with a condition counts once.
  int64_t TripsOf(size_t i) const;
  // Exchanges the buffers of a loop's pairs, for its steps and for readers of `buffer`.
  absl::Status SwapPairs(size_t number);
  absl::StatusOr<bool> IsTrue(int buffer) const;
  // Measured variables: plan_measures.cc.
  absl::Status CreateMeasures();
  // Reads variable `number` of the graph's list, and sets what depends on it.
  absl::Status Measure(size_t number);
  absl::Status EnqueueOne(size_t i, std::vector<Event>* events);

  // Updates kernels_[i], but for its work, and the launch's range.
  absl::Status SetStepVars(size_t i);
  absl::Status CountWorkOf(size_t i) const;
  // Computes the waits between commands if there are several queues.
  absl::Status FindHazards();
  absl::Status EnqueueOnSeveral(std::vector<Event>* events);
  // Makes every queue wait for the commands enqueued on the other queues.
  absl::Status Join() const;

  const Executable* executable_;
  const ScheduledGraph* graph_;
  VarMap sizes_;  // of those given to Create, the variables that the graph does not bind
  std::map<std::string, PlanDevice, std::less<>> devices_;  // by name
  std::vector<BufferRef>
      buffers_;  // by index in the declarations; null if the graph does not use it
  MemoryBytes temporaries_;
  std::vector<Step> steps_;  // parallel to the steps of the graph
  VarMap vars_;
  VarMap measured_;                                       // parts of vars_
  std::vector<std::vector<size_t>> measured_steps_;       // by measure: the steps that depend on it
  std::vector<std::vector<PairArg>> pair_args_;           // by loop
  std::map<std::string, int64_t, std::less<>> counters_;  // of the loops that are running
  mutable std::vector<PlannedKernel> kernels_;            // parallel to steps_
  mutable bool is_work_counted_ = false;                  // with vars_
  std::vector<Enqueued> commands_;                        // empty if there is only one queue
  std::vector<const Context*> queues_;
};

}  // namespace tg::runtime

#endif  // TG_RUNTIME_PLAN_PLAN_H_
