// DeviceSession: a session on devices, which runs an executable.
#ifndef TG_RUNTIME_SESSION_DEVICE_SESSION_H_
#define TG_RUNTIME_SESSION_DEVICE_SESSION_H_

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "runtime/plan/executable.h"
#include "runtime/plan/plan.h"
#include "runtime/session/device_kernels.h"
#include "runtime/session/device_memory.h"
#include "runtime/session/session.h"

namespace tg {
struct Module;
}  // namespace tg

namespace tg::runtime {

struct DeviceSessionOptions;

// Watches a run kernel by kernel, to read the memory before and after each. Nothing is in flight
// during a call. An error ends the run with that error.
class StepObserver {
 public:
  virtual ~StepObserver() = default;
  virtual absl::Status BeforeStep(const ScheduledGraph& graph, const Plan& plan, size_t step) = 0;
  virtual absl::Status AfterStep(const ScheduledGraph& graph, const Plan& plan, size_t step) = 0;
};

class DeviceSession;

// Has some runs of a session done by other sessions, which share its buffers (runtime/specialize).
class SessionChooser {
 public:
  virtual ~SessionChooser() = default;
  // The session that runs this graph of the module with these values of variables; null: the
  // session itself. It is for the same device.
  virtual DeviceSession* Choose(const std::string& graph, const VarMap& vars) = 0;
  // The chosen session cannot run: the session itself does.
  virtual void Refused(const std::string& graph, const VarMap& vars, const absl::Status& why) = 0;
  // A run of that session, or of the session itself (null), has ended.
  virtual void Ran(const std::string& graph, const VarMap& vars, DeviceSession* chosen,
                   double seconds) = 0;
};

struct SessionOptions : BuildOptions {
  bool time_kernels = false;  // requires contexts with profiling
  // Not owned; null: the kernels of a run are enqueued together. With an observer no kernel is
  // timed.
  StepObserver* observer = nullptr;
  // Called after each upload with its size, to tell how far a long one is.
  std::function<void(size_t bytes)> on_upload = {};
  // Null: no run is done by another session. It has no part in runs with an observer.
  std::shared_ptr<SessionChooser> chooser = nullptr;
  // If a chooser names this session: the buffers that it shares with the session for which it runs.
  // What only passes have declared has other contents in each of them.
  std::vector<std::string> shared_buffers = {};
};

// The start and end of a run, and the times of its kernels and copies. For several runs in a row:
// the start of the first, the end of the last, and the kernels of the last.
struct RunTimes {
  int64_t start = 0, end = 0;        // HostNanos, from before the first enqueue to after the last
  int64_t enqueued = 0;              // when all was enqueued
  std::vector<LaunchTimes> kernels;  // by kernel of the plan; zeros for an empty kernel
  double seconds() const { return static_cast<double>(end - start) * 1e-9; }
  double enqueue_seconds() const { return static_cast<double>(enqueued - start) * 1e-9; }
};

class DeviceSession : public Session {
 public:
  // Builds the executable's kernels; `contexts` has one for each of its devices. A run fails with
  // ResourceExhausted where a device lacks memory for it (device_memory.h). `count_work`, if given,
  // counts work that depends on variables, for kernels of the device with this number.
  using CountWorkOn = std::function<absl::StatusOr<KernelWork>(size_t device, const CompiledKernel&,
                                                               const VarLookup&)>;
  static absl::StatusOr<std::unique_ptr<DeviceSession>> Create(
      std::unique_ptr<const Executable> executable,
      std::span<const std::shared_ptr<Context>> contexts, OpenContents contents,
      SessionOptions options, CountWorkOn count_work = {});

  // Makes an executable of the module, which must be linear (compile.h), and the session. NotFound
  // if a device of the module is not in the options. This function is a part of
  // //runtime/session:open.
  static absl::StatusOr<std::unique_ptr<DeviceSession>> Create(std::unique_ptr<Module> module,
                                                               DeviceSessionOptions options);

  // Runs of the sibling are done by no other session, and have neither spans nor an observer.
  absl::StatusOr<std::unique_ptr<Session>> NewSibling() override;

  const Executable& executable() const { return *executable_; }
  // The linear module of a device, if the session was made of a module.
  const Module& module(size_t device = 0) const { return *modules_.at(device); }

  // In the order of Executable::devices.
  std::span<const std::unique_ptr<DeviceKernels>> devices() const { return devices_; }
  bool built_from_cache() const;
  // Returns the sum over all devices.
  BufferPoolStats memory() const;

  // Returns the plan of the most recently run graph; null before the first run.
  // The session that a chooser named may have run it.
  const Plan* last_plan() const { return last_plan_; }
  // Returns the plan of the module's graph @init; null if there is none, or it has not run.
  const Plan* init_plan() const;
  const RunTimes& last_times() const { return times_; }

 protected:
  absl::Status Upload(const BufferDecl& buffer, std::span<const int64_t> shape,
                      std::span<const std::byte> bytes) override;
  absl::Status Clear(const BufferDecl& buffer, std::span<const int64_t> shape) override;
  bool Adopt(const BufferDecl& buffer, std::span<const std::byte> bytes,
             const std::shared_ptr<const void>& owner) override;
  void Release(const BufferDecl& buffer) override;
  absl::StatusOr<bool> Adopt(const BufferDecl& buffer, DeviceHandle memory, size_t bytes) override;
  absl::Status CopyFrom(const BufferDecl& buffer, DeviceHandle memory, size_t bytes) override;
  absl::Status CopyTo(const BufferDecl& buffer, DeviceHandle memory, size_t bytes) override;
  absl::Status Download(const BufferDecl& buffer, std::span<std::byte> elements) override;
  absl::Status Execute(const GraphNeeds& graph, const VarMap& vars, int64_t times) override;

 private:
  DeviceSession(std::shared_ptr<const Executable> executable, OpenContents contents,
                SessionOptions options, CountWorkOn count_work);
  // Which buffers may be memory of the caller's: inputs that are only read, and outputs. Several
  // devices copy buffers to each other.
  static std::vector<bool> FindLendable(const Executable& executable);
  absl::Status Build(std::span<const std::shared_ptr<Context>> contexts);
  // Puts lent memory in the place of the buffer's own.
  void TakeLoan(const BufferDecl& buffer, const std::shared_ptr<Context>& context,
                std::unique_ptr<Memory> memory, size_t bytes);
  // A buffer on the user's memory; InvalidArgument if that has fewer bytes.
  absl::StatusOr<BufferRef> WrapFor(const BufferDecl& buffer, DeviceHandle memory, size_t bytes,
                                    bool is_written) const;
  void AddDevice(std::unique_ptr<DeviceKernels> device);
  // Sets sizes_follow_runs_.
  absl::Status ChooseSizes();
  std::vector<DeviceMemory> MemoryOfDevices() const;
  // Returns the graph's plan with these variables.
  absl::StatusOr<Plan*> PlanFor(const ScheduledGraph& graph,
                                std::span<const BufferDecl* const> buffers, const VarMap& vars);
  // Returns the buffer's memory. If the run's sizes decide how large it is, `bytes` is the size
  // that it needs, and memory that is too small is replaced: its contents are lost.
  absl::StatusOr<BufferRef> BufferFor(const BufferDecl& buffer, size_t bytes);
  bool FollowsRuns(const BufferDecl& buffer) const {
    return sizes_follow_runs_ && (buffer.role == Role::kInput || buffer.role == Role::kOutput);
  }
  // Forgets the memory of a constant that this session and others have: it gets other contents.
  void Unshare(const BufferDecl& buffer);
  // Allocates the buffers that are not temporary for a run with these sizes.
  absl::Status AllocateBuffers(std::span<const BufferDecl* const> buffers, const VarMap& sizes);
  // Makes this session ready to run a graph with the shared buffers of `owner`, the session for
  // which a chooser has named it.
  absl::Status Prepare(DeviceSession& owner, const GraphNeeds& graph, const VarMap& vars);
  absl::Status ExecuteHere(const GraphNeeds& graph, const VarMap& vars, int64_t times);
  // Whether a chosen session has done the run.
  absl::StatusOr<bool> RunChosen(const GraphNeeds& graph, const VarMap& vars, int64_t times);
  absl::Status Finish() const;
  // Runs the plan of `graph` step by step.
  absl::Status ExecuteObserved(const ScheduledGraph& graph);

  struct CachedPlan {
    CachedPlan(Plan p, VarMap v, uint64_t b)
        : plan(std::move(p)), vars(std::move(v)), buffers_version(b) {}
    Plan plan;
    VarMap vars;
    uint64_t buffers_version;  // that the plan has
  };

  const std::shared_ptr<const Executable> executable_;
  std::vector<std::shared_ptr<const Module>> modules_;  // by device; empty: of no module
  const SessionOptions options_;
  const CountWorkOn count_work_;
  std::vector<std::unique_ptr<DeviceKernels>> devices_;
  std::map<std::string, DeviceKernels*, std::less<>> by_name_;
  // Buffers usually have the greatest size that the variables allow, and serve every run. If the
  // devices lack memory for that, the buffers have the size of the run.
  bool sizes_follow_runs_ = false;
  std::shared_ptr<const void> borrowed_from_;  // outlives buffers_
  NamedBuffers buffers_;
  uint64_t buffers_version_ = 0;                      // changes with buffers_
  std::set<std::string, std::less<>> shared_states_;  // constants that @init has computed
  const std::vector<bool> lendable_;                  // by buffer
  NamedBuffers own_buffers_;                 // whose place lent memory has taken; null: none
  std::map<std::string, CachedPlan> plans_;  // by graph
  Plan* last_plan_ = nullptr;
  RunTimes times_;
};

}  // namespace tg::runtime

#endif  // TG_RUNTIME_SESSION_DEVICE_SESSION_H_
