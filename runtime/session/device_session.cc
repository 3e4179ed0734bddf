#include "runtime/session/device_session.h"

#include <algorithm>
#include <set>
#include <utility>

#include "base/status.h"
#include "ir/devices.h"
#include "runtime/plan/temporaries.h"

namespace tg::runtime {
namespace {

// Returns, for each device, the names of the kernels that the module's graphs run there.
std::map<std::string, std::set<std::string_view>> KernelsByDevice(const Module& module) {
  std::map<std::string, std::set<std::string_view>> used;
  for (const auto& graph : module.graphs) {
    const tg::Context& context = *graph->body.context;
    DeviceMap devices(module, context);
    for (const UOp* u : PostOrder(graph->body.root)) {
      if (u->op != Op::kKernel) continue;
      used[devices.Name(devices.Of(u))].insert(context.String(static_cast<StringId>(u->word())));
    }
  }
  return used;
}

Span MoveOf(const char* name, const BufferDecl& buffer, size_t bytes) {
  return {.name = name, .buffer = buffer.name, .bytes = static_cast<int64_t>(bytes)};
}

}  // namespace

std::vector<DeviceMemory> DevicesOf(const Module& module, const DeviceSessionOptions& options) {
  std::vector<DeviceMemory> devices = {{options.context.get(), options.names, {}}};
  if (options.others.empty()) devices[0].names = DeviceNames(module);
  for (const NamedDevice& other : options.others) {
    devices.push_back({other.context.get(), other.names, {}});
  }
  return devices;
}

DeviceSession::DeviceSession(std::unique_ptr<Module> module, DeviceSessionOptions options)
    : Session(std::move(module)), options_(std::move(options)) {}

absl::StatusOr<std::unique_ptr<DeviceSession>> DeviceSession::Create(std::unique_ptr<Module> module,
                                                                     DeviceSessionOptions options) {
  std::unique_ptr<DeviceSession> session(new DeviceSession(std::move(module), std::move(options)));
  TG_RETURN_IF_ERROR(session->Build());
  TG_RETURN_IF_ERROR(session->ChooseSizes());
  return session;
}

absl::Status DeviceSession::Build() {
  const std::vector<std::string> names = DeviceNames(module());
  const bool single = options_.others.empty() && names.size() == 1;
  const std::vector<std::string>& own = single ? names : options_.names;
  devices_.push_back(std::make_unique<DeviceKernels>(own, options_.context, options_.target));
  for (const NamedDevice& d : options_.others) {
    devices_.push_back(std::make_unique<DeviceKernels>(d.names, d.context, d.target));
  }
  for (const auto& device : devices_) {
    for (const std::string& name : device->names()) by_name_.emplace(name, device.get());
  }
  for (const std::string& name : names) {
    if (by_name_.contains(name)) continue;
    return NotFound("module @", module().name, " is for device '", name,
                    "' too, which is not open");
  }
  const auto used = KernelsByDevice(module());
  for (size_t d = 0; d < devices_.size(); ++d) {
    const Module* compiled = d > 0 ? options_.others[d - 1].module.get() : nullptr;
    if (compiled == nullptr) compiled = &module();
    std::vector<NamedKernel> kernels;
    for (size_t i = 0; i < module().kernels.size(); ++i) {
      const std::string& name = module().kernels[i]->name;
      const bool needed = std::any_of(devices_[d]->names().begin(), devices_[d]->names().end(),
                                      [&](const std::string& device) {
                                        const auto found = used.find(device);
                                        return found != used.end() && found->second.contains(name);
                                      });
      // On a single device, kernels that no graph runs are built too, to detect errors.
      if (needed || devices_.size() == 1) kernels.push_back({name, compiled->kernels[i].get()});
    }
    TG_RETURN_IF_ERROR(devices_[d]->Build(*compiled, std::move(kernels), options_));
  }
  return absl::OkStatus();
}

absl::Status DeviceSession::ChooseSizes() {
  const auto is_open = [](const VarDecl& var) { return var.min < var.max; };
  if (std::none_of(module().vars.begin(), module().vars.end(), is_open)) return absl::OkStatus();
  uint64_t max_allocation = std::numeric_limits<uint64_t>::max();
  for (const auto& device : devices_) {
    max_allocation = std::min(max_allocation, device->context()->info().max_allocation);
  }
  for (const BufferDecl& buffer : module().buffers) {
    const absl::StatusOr<size_t> bytes = BufferBytes(module(), buffer);
    // The greatest size may have more bytes than can be counted.
    sizes_follow_runs_ |= !bytes.ok() || *bytes > max_allocation;
  }
  for (const auto& graph : module().graphs) {
    if (sizes_follow_runs_) break;
    // A graph that cannot be planned is an error when it is run.
    const auto shortage =
        FindMemoryShortage(module(), GraphsOfRun(module(), *graph), {}, MemoryOfDevices());
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
    // Plans hold the old memory.
    last_plan_ = nullptr;
    std::erase_if(plans_, [](const auto& plan) { return plan.first != kInitGraph; });
    buffers_.erase(found);
  }
  if (!FollowsRuns(buffer)) {
    TG_ASSIGN_OR_RETURN(bytes, BufferBytes(module(), buffer));
  }
  // A buffer that no graph uses may be on any device.
  const auto device = by_name_.find(buffer.device);
  BufferPool& pool = device != by_name_.end() ? device->second->pool() : devices_[0]->pool();
  absl::StatusOr<BufferRef> made = pool.Allocate(bytes);
  if (!made.ok()) {
    return absl::Status(made.status().code(), Cat(RoleName(buffer.role), " @", buffer.name, ": ",
                                                  std::string(made.status().message())));
  }
  return buffers_[buffer.name] = *std::move(made);
}

absl::Status DeviceSession::Upload(const BufferDecl& buffer, std::span<const int64_t>,
                                   std::span<const std::byte> bytes) {
  const ScopedSpan span(options_.spans, MoveOf("upload", buffer, bytes.size()));
  TG_ASSIGN_OR_RETURN(const BufferRef ref, BufferFor(buffer, bytes.size()));
  if (!bytes.empty()) TG_RETURN_IF_ERROR(Write(*ref, 0, bytes));
  if (options_.on_upload) options_.on_upload(bytes.size());
  return absl::OkStatus();
}

absl::Status DeviceSession::Download(const BufferDecl& buffer, HostTensor& tensor) {
  const ScopedSpan span(options_.spans, MoveOf("download", buffer, tensor.data.size()));
  TG_ASSIGN_OR_RETURN(const BufferRef ref, BufferFor(buffer, tensor.data.size()));
  if (!tensor.data.empty()) TG_RETURN_IF_ERROR(Read(*ref, 0, tensor.data));
  if (tensor.type == ElementType::kBool) NormalizeBools(tensor.data);
  return absl::OkStatus();
}

absl::StatusOr<Plan*> DeviceSession::PlanFor(const Graph& graph,
                                             std::span<const BufferDecl* const> buffers,
                                             const VarMap& vars) {
  const auto found = plans_.find(graph.name);
  if (found != plans_.end() && sizes_follow_runs_ && found->second.vars != vars) {
    last_plan_ = nullptr;
    plans_.erase(found);
  } else if (found != plans_.end()) {
    if (found->second.vars != vars) {
      TG_RETURN_IF_ERROR(found->second.plan.SetVars(vars));
      found->second.vars = vars;
    }
    return &found->second.plan;
  }
  const ScopedSpan span(options_.spans, "plan");
  const VarMap sizes = sizes_follow_runs_ ? vars : VarMap();
  const Graph* graphs[] = {&graph};
  TG_ASSIGN_OR_RETURN(const std::optional<MemoryShortage> shortage,
                      FindMemoryShortage(module(), graphs, sizes, MemoryOfDevices(), buffers_));
  if (shortage) return absl::ResourceExhaustedError(shortage->ToString());
  for (const BufferDecl* buffer : buffers) {
    if (buffer->role == Role::kTemp) continue;
    size_t bytes = 0;
    if (FollowsRuns(*buffer)) {
      TG_ASSIGN_OR_RETURN(bytes, BufferBytes(module(), *buffer, sizes));
    }
    const absl::StatusOr<BufferRef> ref = BufferFor(*buffer, bytes);
    if (!ref.ok()) return ref.status();
  }
  std::vector<PlanDevice> devices;
  for (const auto& [name, device] : by_name_) {
    devices.push_back({name, &device->built(), &device->pool()});
  }
  TG_ASSIGN_OR_RETURN(Plan plan, Plan::Create(module(), graph, devices, buffers_, vars, sizes));
  return &plans_.try_emplace(graph.name, std::move(plan), vars).first->second.plan;
}

absl::Status DeviceSession::Finish() const {
  for (const auto& device : devices_) TG_RETURN_IF_ERROR(device->context()->Finish());
  return absl::OkStatus();
}

absl::Status DeviceSession::ExecuteObserved(const Graph& graph) {
  for (size_t i = 0; i < last_plan_->kernels().size(); ++i) {
    TG_RETURN_IF_ERROR(options_.observer->BeforeStep(graph, *last_plan_, i));
    TG_RETURN_IF_ERROR(last_plan_->EnqueueStep(i));
    TG_RETURN_IF_ERROR(Finish());
    TG_RETURN_IF_ERROR(options_.observer->AfterStep(graph, *last_plan_, i));
  }
  return absl::OkStatus();
}

absl::Status DeviceSession::Execute(const Graph& graph, std::span<const BufferDecl* const> buffers,
                                    const VarMap& vars, int64_t times) {
  TG_ASSIGN_OR_RETURN(last_plan_, PlanFor(graph, buffers, vars));
  // Uploads are not part of the measured run.
  TG_RETURN_IF_ERROR(Finish());
  std::vector<Event> events;
  times_ = {};
  times_.start = HostNanos();
  if (options_.observer != nullptr) {
    for (int64_t i = 0; i < times; ++i) TG_RETURN_IF_ERROR(ExecuteObserved(graph));
    times_.end = HostNanos();
    return absl::OkStatus();
  }
  for (int64_t i = 1; i < times; ++i) TG_RETURN_IF_ERROR(last_plan_->Enqueue());
  TG_RETURN_IF_ERROR(last_plan_->Enqueue(options_.time_kernels ? &events : nullptr));
  TG_RETURN_IF_ERROR(Finish());
  times_.end = HostNanos();
  for (size_t i = 0; i < events.size(); ++i) {
    times_.kernels.emplace_back();
    if (!events[i]) continue;
    TG_ASSIGN_OR_RETURN(times_.kernels.back(), last_plan_->TimesOf(i, events[i]));
  }
  return absl::OkStatus();
}

}  // namespace tg::runtime
