#include "runtime/session/device_session.h"

#include <algorithm>
#include <set>
#include <utility>

#include "base/status.h"
#include "runtime/plan/init_constants.h"
#include "runtime/plan/temporaries.h"

namespace tg::runtime {
namespace {

// Nothing for a log that does not exist.
Span MoveOf(const SpanLog* log, const char* name, const BufferDecl& buffer, size_t bytes) {
  if (log == nullptr) return {};
  return {.name = name, .buffer = buffer.name, .bytes = static_cast<int64_t>(bytes)};
}

std::vector<GraphNeeds> NeedsOfGraphs(const Executable& executable) {
  std::vector<GraphNeeds> all;
  for (const ScheduledGraph& graph : executable.graphs) {
    GraphNeeds& needs = all.emplace_back();
    needs.name = graph.name;
    for (const int b : graph.buffers) {
      needs.needs.buffers.push_back(&executable.buffers[static_cast<size_t>(b)]);
    }
    for (const int v : graph.vars) {
      needs.needs.vars.push_back(&executable.vars[static_cast<size_t>(v)]);
    }
  }
  return all;
}

}  // namespace

DeviceSession::DeviceSession(std::shared_ptr<const Executable> executable, OpenContents contents,
                             SessionOptions options, CountWorkOn count_work)
    : Session(*executable, NeedsOfGraphs(*executable), std::move(contents)),
      executable_(std::move(executable)),
      options_(std::move(options)),
      count_work_(std::move(count_work)),
      lendable_(FindLendable(*executable_)) {}

absl::StatusOr<std::unique_ptr<DeviceSession>> DeviceSession::Create(
    std::unique_ptr<const Executable> executable,
    std::span<const std::shared_ptr<Context>> contexts, OpenContents contents,
    SessionOptions options, CountWorkOn count_work) {
  std::unique_ptr<DeviceSession> session(new DeviceSession(
      std::move(executable), std::move(contents), std::move(options), std::move(count_work)));
  TG_RETURN_IF_ERROR(session->Build(contexts));
  TG_RETURN_IF_ERROR(session->ChooseSizes());
  return session;
}

absl::StatusOr<std::unique_ptr<Session>> DeviceSession::NewSibling() {
  TG_ASSIGN_OR_RETURN(std::vector<std::string> shared, LoadParams());
  const std::set<int> constants = InitConstants(*executable_);
  if (!constants.empty() && !is_initialized()) TG_RETURN_IF_ERROR(Run(kInitGraph));
  for (const int b : constants) {
    const std::string& name = executable_->buffers[static_cast<size_t>(b)].name;
    shared.push_back(name);
    shared_states_.insert(name);
  }
  SessionOptions options = options_;
  options.observer = nullptr;
  options.on_upload = nullptr;
  options.spans = nullptr;
  options.chooser = nullptr;
  std::unique_ptr<DeviceSession> sibling(
      new DeviceSession(executable_, contents(), std::move(options), count_work_));
  sibling->modules_ = modules_;
  for (const auto& device : devices_) {
    sibling->AddDevice(std::make_unique<DeviceKernels>(*device));
  }
  sibling->sizes_follow_runs_ = sizes_follow_runs_;
  sibling->borrowed_from_ = borrowed_from_;
  sibling->shared_states_ = shared_states_;
  for (const std::string& name : shared) sibling->buffers_[name] = buffers_.find(name)->second;
  if (constants.empty()) {
    sibling->AdoptContents(*this, shared);
  } else {
    sibling->AdoptInitialized(*this, shared);
  }
  return sibling;
}

void DeviceSession::AddDevice(std::unique_ptr<DeviceKernels> device) {
  for (const std::string& name : device->names()) by_name_.emplace(name, device.get());
  devices_.push_back(std::move(device));
}

absl::Status DeviceSession::Build(std::span<const std::shared_ptr<Context>> contexts) {
  if (contexts.size() != executable_->devices.size()) {
    return InvalidArgument("module @", executable_->name, " runs on ", executable_->devices.size(),
                           " devices, not ", contexts.size());
  }
  for (size_t d = 0; d < contexts.size(); ++d) {
    AddDevice(std::make_unique<DeviceKernels>(executable_->devices[d], contexts[d]));
    TG_RETURN_IF_ERROR(devices_[d]->Build(*executable_, options_));
  }
  return absl::OkStatus();
}

absl::Status DeviceSession::ChooseSizes() {
  const auto is_open = [](const VarDecl& var) { return var.min < var.max; };
  if (std::none_of(executable_->vars.begin(), executable_->vars.end(), is_open))
    return absl::OkStatus();
  uint64_t max_allocation = std::numeric_limits<uint64_t>::max();
  for (const auto& device : devices_) {
    max_allocation = std::min(max_allocation, device->context()->info().max_allocation);
  }
  for (const BufferDecl& buffer : executable_->buffers) {
    const absl::StatusOr<size_t> bytes = BufferBytes(*executable_, buffer);
    // The greatest size may have more bytes than can be counted.
    sizes_follow_runs_ |= !bytes.ok() || *bytes > max_allocation;
  }
  const ScheduledGraph* init = FindGraph(*executable_, kInitGraph);
  for (const ScheduledGraph& graph : executable_->graphs) {
    if (sizes_follow_runs_) break;
    std::vector<const ScheduledGraph*> graphs = {&graph};
    if (init != nullptr && init != &graph) graphs.push_back(init);
    // A graph that cannot be planned is an error when it is run.
    const auto shortage = FindMemoryShortage(*executable_, graphs, {}, MemoryOfDevices());
    sizes_follow_runs_ = shortage.ok() && shortage->has_value();
  }
  return absl::OkStatus();
}

std::vector<DeviceMemory> DeviceSession::MemoryOfDevices() const {
  std::vector<DeviceMemory> all;
  for (const auto& device : devices_) {
    const auto same = std::find_if(all.begin(), all.end(), [&](const DeviceMemory& d) {
      return d.context == device->context().get();
    });
    DeviceMemory& memory = same == all.end() ? all.emplace_back() : *same;
    memory.context = device->context().get();
    memory.names.insert(memory.names.end(), device->names().begin(), device->names().end());
    memory.held += device->pool().stats();
  }
  return all;
}

bool DeviceSession::built_from_cache() const {
  return std::all_of(devices_.begin(), devices_.end(),
                     [](const auto& device) { return device->from_cache(); });
}

BufferPoolStats DeviceSession::memory() const {
  BufferPoolStats sum;
  for (const auto& device : devices_) sum += device->pool().stats();
  return sum;
}

const Plan* DeviceSession::init_plan() const {
  const auto found = plans_.find(std::string(kInitGraph));
  return found == plans_.end() ? nullptr : &found->second.plan;
}

absl::StatusOr<BufferRef> DeviceSession::BufferFor(const BufferDecl& buffer, size_t bytes) {
  const auto found = buffers_.find(buffer.name);
  if (found != buffers_.end()) {
    if (!FollowsRuns(buffer) || found->second->size() >= bytes) return found->second;
    buffers_.erase(found);
  }
  if (!FollowsRuns(buffer)) {
    TG_ASSIGN_OR_RETURN(bytes, BufferBytes(*executable_, buffer));
  }
  // A buffer that no graph uses may be on any device.
  const auto device = by_name_.find(buffer.device);
  BufferPool& pool = device != by_name_.end() ? device->second->pool() : devices_[0]->pool();
  absl::StatusOr<BufferRef> made = pool.Allocate(bytes);
  if (!made.ok()) {
    return absl::Status(made.status().code(), Cat(RoleName(buffer.role), " @", buffer.name, ": ",
                                                  std::string(made.status().message())));
  }
  ++buffers_version_;
  return buffers_[buffer.name] = *std::move(made);
}

void DeviceSession::Unshare(const BufferDecl& buffer) {
  if (shared_states_.erase(buffer.name) > 0) buffers_.erase(buffer.name);
}

absl::Status DeviceSession::Upload(const BufferDecl& buffer, std::span<const int64_t>,
                                   std::span<const std::byte> bytes) {
  const ScopedSpan span(options_.spans, MoveOf(options_.spans, "upload", buffer, bytes.size()));
  Unshare(buffer);
  TG_ASSIGN_OR_RETURN(const BufferRef ref, BufferFor(buffer, bytes.size()));
  if (!bytes.empty()) TG_RETURN_IF_ERROR(Write(*ref, 0, bytes));
  if (options_.on_upload) options_.on_upload(bytes.size());
  return absl::OkStatus();
}

absl::Status DeviceSession::Clear(const BufferDecl& buffer, std::span<const int64_t>) {
  Unshare(buffer);
  TG_ASSIGN_OR_RETURN(const BufferRef ref, BufferFor(buffer, 0));
  return Fill(*ref, std::byte{0});
}

absl::Status DeviceSession::Download(const BufferDecl& buffer, std::span<std::byte> elements) {
  const ScopedSpan span(options_.spans,
                        MoveOf(options_.spans, "download", buffer, elements.size()));
  TG_ASSIGN_OR_RETURN(const BufferRef ref, BufferFor(buffer, elements.size()));
  if (!elements.empty()) TG_RETURN_IF_ERROR(Read(*ref, 0, elements));
  if (buffer.dtype.scalar() == Scalar::kBool) NormalizeBools(elements);
  return absl::OkStatus();
}

absl::StatusOr<Plan*> DeviceSession::PlanFor(const ScheduledGraph& graph,
                                             std::span<const BufferDecl* const> buffers,
                                             const VarMap& vars) {
  auto found = plans_.find(graph.name);
  const VarMap sizes = sizes_follow_runs_ ? vars : VarMap();
  bool fits = found != plans_.end() && (!sizes_follow_runs_ || found->second.vars == vars);
  if (fits && found->second.buffers_version != buffers_version_) {
    TG_RETURN_IF_ERROR(AllocateBuffers(buffers, sizes));
    TG_ASSIGN_OR_RETURN(fits, found->second.plan.Rebind(buffers_));
    found->second.buffers_version = buffers_version_;
  }
  if (found != plans_.end() && !fits) {
    last_plan_ = nullptr;
    plans_.erase(found);
  } else if (found != plans_.end()) {
    if (found->second.vars != vars) {
      TG_RETURN_IF_ERROR(found->second.plan.SetVars(vars));
      found->second.vars = vars;
    }
    return &found->second.plan;
  }
  TG_RETURN_IF_ERROR(graph.problem);
  const ScopedSpan span(options_.spans, "plan");
  const ScheduledGraph* graphs[] = {&graph};
  TG_ASSIGN_OR_RETURN(const std::optional<MemoryShortage> shortage,
                      FindMemoryShortage(*executable_, graphs, sizes, MemoryOfDevices(), buffers_));
  if (shortage) return absl::ResourceExhaustedError(shortage->ToString());
  TG_RETURN_IF_ERROR(AllocateBuffers(buffers, sizes));
  std::vector<PlanDevice> devices;
  for (size_t d = 0; d < devices_.size(); ++d) {
    WorkCounter count_work;
    if (count_work_) {
      count_work = [this, d](const CompiledKernel& kernel, const VarLookup& var) {
        return count_work_(d, kernel, var);
      };
    }
    for (const std::string& name : devices_[d]->names()) {
      devices.push_back({name, &devices_[d]->built(), &devices_[d]->pool(), count_work});
    }
  }
  TG_ASSIGN_OR_RETURN(Plan plan, Plan::Create(*executable_, graph, devices, buffers_, vars, sizes));
  return &plans_.try_emplace(graph.name, std::move(plan), vars, buffers_version_)
              .first->second.plan;
}

absl::Status DeviceSession::AllocateBuffers(std::span<const BufferDecl* const> buffers,
                                            const VarMap& sizes) {
  for (const BufferDecl* buffer : buffers) {
    if (buffer->role == Role::kTemp) continue;
    size_t bytes = 0;
    if (FollowsRuns(*buffer)) {
      TG_ASSIGN_OR_RETURN(bytes, BufferBytes(*executable_, *buffer, sizes));
    }
    TG_RETURN_IF_ERROR(BufferFor(*buffer, bytes).status());
  }
  return absl::OkStatus();
}

absl::Status DeviceSession::Prepare(DeviceSession& owner, const GraphNeeds& graph,
                                    const VarMap& vars) {
  const std::vector<std::string>& shared = options_.shared_buffers;
  std::vector<const BufferDecl*> needed;
  for (const BufferDecl* buffer : graph.needs.buffers) {
    if (std::find(shared.begin(), shared.end(), buffer->name) != shared.end()) {
      needed.push_back(buffer);
    }
  }
  TG_RETURN_IF_ERROR(owner.AllocateBuffers(needed, owner.sizes_follow_runs_ ? vars : VarMap()));
  for (const std::string& name : shared) {
    const auto memory = owner.buffers_.find(name);
    if (memory == owner.buffers_.end()) continue;
    BufferRef& its = buffers_[name];
    if (its == memory->second) continue;
    its = memory->second;
    ++buffers_version_;
  }
  AdoptContents(owner, shared);
  VarMap open;  // variables that this session's module has, too
  for (const auto& [name, value] : vars) {
    if (executable_->FindVar(name) == nullptr) continue;
    TG_RETURN_IF_ERROR(SetVar(name, value));
    open[name] = value;
  }
  if (!is_initialized() && FindGraph(*executable_, kInitGraph) != nullptr) {
    TG_RETURN_IF_ERROR(Run(kInitGraph));
  }
  const ScheduledGraph& own = *FindGraph(*executable_, graph.name);
  std::vector<const BufferDecl*> buffers;
  for (const int b : own.buffers) buffers.push_back(&executable_->buffers[static_cast<size_t>(b)]);
  return PlanFor(own, buffers, open).status();
}

absl::StatusOr<bool> DeviceSession::RunChosen(const GraphNeeds& graph, const VarMap& vars,
                                              int64_t times) {
  if (options_.chooser == nullptr || options_.observer != nullptr || graph.name == kInitGraph) {
    return false;
  }
  last_plan_ = nullptr;  // its session may be dropped
  DeviceSession* chosen = options_.chooser->Choose(graph.name, vars);
  if (chosen == nullptr) return false;
  if (const absl::Status ready = chosen->Prepare(*this, graph, vars); !ready.ok()) {
    options_.chooser->Refused(graph.name, vars, ready);
    return false;
  }
  TG_RETURN_IF_ERROR(chosen->Run(graph.name, times));
  last_plan_ = chosen->last_plan_;
  times_ = chosen->times_;
  options_.chooser->Ran(graph.name, vars, chosen, times_.seconds());
  return true;
}

absl::Status DeviceSession::Finish() const {
  for (const auto& device : devices_) TG_RETURN_IF_ERROR(device->context()->Finish());
  return absl::OkStatus();
}

absl::Status DeviceSession::ExecuteObserved(const ScheduledGraph& graph) {
  return last_plan_->ForEachStep([&](size_t i) -> absl::Status {
    TG_RETURN_IF_ERROR(options_.observer->BeforeStep(graph, *last_plan_, i));
    TG_RETURN_IF_ERROR(last_plan_->EnqueueStep(i));
    TG_RETURN_IF_ERROR(Finish());
    return options_.observer->AfterStep(graph, *last_plan_, i);
  });
}

absl::Status DeviceSession::Execute(const GraphNeeds& needs, const VarMap& vars, int64_t times) {
  TG_ASSIGN_OR_RETURN(const bool done, RunChosen(needs, vars, times));
  if (!done) TG_RETURN_IF_ERROR(ExecuteHere(needs, vars, times));
  for (const auto& [name, value] : last_plan_->measured()) SetMeasured(name, value);
  return absl::OkStatus();
}

absl::Status DeviceSession::ExecuteHere(const GraphNeeds& needs, const VarMap& vars,
                                        int64_t times) {
  const ScheduledGraph& graph = *FindGraph(*executable_, needs.name);
  if (needs.name == kInitGraph) {
    for (const BufferDecl* buffer : needs.needs.buffers) Unshare(*buffer);
  }
  TG_ASSIGN_OR_RETURN(last_plan_, PlanFor(graph, needs.needs.buffers, vars));
  // Uploads are not part of the measured run.
  TG_RETURN_IF_ERROR(Finish());
  std::vector<Event> events;
  times_ = {};
  times_.start = HostNanos();
  if (options_.observer != nullptr) {
    for (int64_t i = 0; i < times; ++i) TG_RETURN_IF_ERROR(ExecuteObserved(graph));
    times_.enqueued = times_.end = HostNanos();
    return absl::OkStatus();
  }
  for (int64_t i = 1; i < times; ++i) TG_RETURN_IF_ERROR(last_plan_->Enqueue());
  TG_RETURN_IF_ERROR(last_plan_->Enqueue(options_.time_kernels ? &events : nullptr));
  times_.enqueued = HostNanos();
  TG_RETURN_IF_ERROR(Finish());
  times_.end = HostNanos();
  for (size_t i = 0; i < events.size(); ++i) {
    times_.kernels.emplace_back();
    if (!events[i]) continue;
    TG_ASSIGN_OR_RETURN(times_.kernels.back(), last_plan_->TimesOf(i, events[i]));
  }
  if (options_.chooser != nullptr && graph.name != kInitGraph) {
    options_.chooser->Ran(graph.name, vars, nullptr, times_.seconds());
  }
  return absl::OkStatus();
}

}  // namespace tg::runtime
