#include "runtime/plan/plan.h"

#include <algorithm>
#include <set>
#include <utility>

#include "base/status.h"
#include "runtime/plan/temporaries.h"

namespace tg::runtime {
namespace {

// Drivers count local memory in 32 bits (PoCL's count overflows), so it is also checked here.
absl::Status CheckLocalMemory(const CompiledKernel& kernel, const DeviceInfo& device) {
  if (static_cast<uint64_t>(kernel.local_bytes) > device.local_memory) {
    return InvalidArgument("kernel @", kernel.name, " needs ", kernel.local_bytes,
                           " bytes of local memory; ", device.name, " has ", device.local_memory);
  }
  return absl::OkStatus();
}

KernelArg VarValue(int64_t value, bool wide) {
  return wide ? ScalarArg::Of(value) : ScalarArg::Of(static_cast<int32_t>(value));
}

}  // namespace

absl::StatusOr<Plan> Plan::Create(const Executable& executable, const ScheduledGraph& graph,
                                  std::span<const PlanDevice> devices, const NamedBuffers& buffers,
                                  const VarMap& vars, const VarMap& sizes) {
  Plan plan(executable, graph);
  for (const PlanDevice& device : devices) plan.devices_.emplace(device.name, device);
  plan.sizes_ = WithoutBound(graph.steps, sizes);
  TG_RETURN_IF_ERROR(plan.AllocateTemporaries(buffers));
  for (const ScheduledKernel& item : graph.steps) TG_RETURN_IF_ERROR(plan.AddStep(item));
  TG_RETURN_IF_ERROR(plan.CreateLoops());
  TG_RETURN_IF_ERROR(plan.CreateMeasures());
  TG_RETURN_IF_ERROR(plan.SetVars(vars));
  for (size_t i = 0; i < plan.steps_.size(); ++i) TG_RETURN_IF_ERROR(plan.CountWorkOf(i));
  plan.is_work_counted_ = true;
  TG_RETURN_IF_ERROR(plan.FindHazards());
  if (!plan.commands_.empty() && !graph.measures.empty()) {
    return Unimplemented("a size that depends on data, in a graph over several devices");
  }
  return plan;
}

absl::StatusOr<const PlanDevice*> Plan::DeviceOf(const BufferDecl& buffer) const {
  const auto found = devices_.find(buffer.device);
  if (found != devices_.end()) return &found->second;
  return NotFound(
      "buffer @", buffer.name, " is on ",
      buffer.device.empty() ? "the default device" : Cat("device '", buffer.device, "'"),
      ", which is not open");
}

absl::Status Plan::AllocateTemporaries(const NamedBuffers& given) {
  buffers_.resize(executable_->buffers.size());
  ArenaLimits limits;
  for (const auto& [name, device] : devices_) {
    const DeviceInfo& info = device.pool->context()->info();
    limits.alignment = std::max(limits.alignment, info.base_alignment);
    limits.max_bytes = std::min(limits.max_bytes, info.max_allocation);
    limits.has_parts = limits.has_parts && info.parts_are_free;
  }
  TG_ASSIGN_OR_RETURN(const auto by_device,
                      PlanTemporaries(*executable_, graph_->steps, sizes_, limits));
  for (const auto& [name, temporaries] : by_device) {
    const BufferDecl& first = executable_->buffers[static_cast<size_t>(temporaries.buffers[0])];
    TG_ASSIGN_OR_RETURN(const PlanDevice* device, DeviceOf(first));
    const MemoryPlan& memory = temporaries.plan;
    const auto allocate = [&](size_t bytes) -> absl::StatusOr<BufferRef> {
      absl::StatusOr<BufferRef> made = device->pool->Allocate(bytes);
      if (made.ok()) return made;
      return absl::Status(made.status().code(),
                          Cat("temporaries of graph @", graph_->name, " (", memory.planned_bytes,
                              " bytes): ", std::string(made.status().message())));
    };
    // A simulator finds accesses beyond the end of a buffer only if nothing else is there.
    const bool is_separate = device->pool->is_exact();
    std::vector<BufferRef> arenas;
    for (const size_t bytes : memory.arena_bytes) {
      if (is_separate) break;
      TG_ASSIGN_OR_RETURN(arenas.emplace_back(), allocate(bytes));
    }
    for (size_t i = 0; i < temporaries.buffers.size(); ++i) {
      const size_t bytes = std::max<size_t>(temporaries.lives[i].bytes, 1);
      const MemoryPlan::Place& place = memory.places[i];
      BufferRef& buffer = buffers_[static_cast<size_t>(temporaries.buffers[i])];
      if (is_separate) {
        TG_ASSIGN_OR_RETURN(buffer, allocate(bytes));
      } else if (!limits.has_parts) {
        buffer = arenas[place.arena];
      } else {
        TG_ASSIGN_OR_RETURN(buffer, Buffer::Part(arenas[place.arena], place.offset, bytes));
      }
    }
    temporaries_.separate_bytes += memory.separate_bytes;
    temporaries_.planned_bytes += memory.planned_bytes;
    temporaries_.live_bytes += memory.live_bytes;
  }
  for (size_t i = 0; i < buffers_.size(); ++i) {
    const auto found = given.find(executable_->buffers[i].name);
    if (found != given.end()) buffers_[i] = found->second;
  }
  return absl::OkStatus();
}

absl::StatusOr<BufferRef> Plan::Resolve(const BufferSlice& slice) const {
  const auto index = static_cast<size_t>(slice.buffer);
  const BufferDecl& decl = executable_->buffers[index];
  const BufferRef& buffer = buffers_[index];
  if (buffer == nullptr) return InvalidArgument("buffer @", decl.name, " is not allocated");
  if (slice.offset == 0) return buffer;
  const int64_t element = ByteSize(decl.dtype.scalar());
  TG_ASSIGN_OR_RETURN(const size_t bytes, BufferBytes(*executable_, decl, sizes_));
  const int64_t total = static_cast<int64_t>(bytes) / element;
  const int64_t size = slice.size < 0 ? total - slice.offset : slice.size;
  if (slice.offset < 0 || size < 0 || slice.offset + size > total) {
    return InvalidArgument("elements ", slice.offset, " to ", slice.offset + size,
                           " are outside of buffer @", decl.name, ", which has ", total);
  }
  absl::StatusOr<BufferRef> part = Buffer::Part(buffer, static_cast<size_t>(slice.offset * element),
                                                static_cast<size_t>(size * element));
  if (part.ok()) return part;
  return absl::Status(part.status().code(), Cat("a view of buffer @", decl.name, ": ",
                                                std::string(part.status().message())));
}

absl::Status Plan::AddTransfer(const ScheduledKernel& item) {
  PlannedKernel planned;
  planned.num_args = 2;
  size_t size = SIZE_MAX;
  std::vector<BufferRef> ends;
  for (const BufferSlice& slice : item.buffers) {
    TG_ASSIGN_OR_RETURN(
        const size_t bytes,
        BufferBytes(*executable_, executable_->buffers[static_cast<size_t>(slice.buffer)], sizes_));
    size = std::min(size, bytes);
    planned.buffer_bytes += bytes;
    TG_ASSIGN_OR_RETURN(ends.emplace_back(), Resolve(slice));
    size = std::min(size, ends.back()->size());
  }
  planned.work.load_bytes = planned.work.store_bytes = static_cast<double>(size);
  planned.context = &ends[0]->context();
  Step step;
  TG_ASSIGN_OR_RETURN(step.transfer, Transfer::Create(ends[1], ends[0], size));
  steps_.push_back(std::move(step));
  kernels_.push_back(std::move(planned));
  return absl::OkStatus();
}

absl::Status Plan::AddLaunch(const ScheduledKernel& item) {
  const std::string& name = executable_->kernel_names[static_cast<size_t>(item.kernel)];
  if (item.buffers.empty()) return InvalidArgument("kernel @", name, " is run on no buffer");
  TG_ASSIGN_OR_RETURN(const PlanDevice* device,
                      DeviceOf(executable_->buffers[static_cast<size_t>(item.buffers[0].buffer)]));
  const auto built = device->kernels->find(item.kernel);
  if (built == device->kernels->end()) {
    return InvalidArgument("kernel @", name, " has not been compiled");
  }
  const codegen::RenderedKernel& rendered = built->second.kernel->code;
  PlannedKernel planned;
  planned.kernel = built->second.kernel;
  planned.depends_on_input = item.depends_on_input;
  planned.context = built->second.program->context().get();
  planned.num_args = rendered.params.size();
  std::vector<KernelArg> args;
  std::vector<VarArg> var_args;
  std::set<const Buffer*> counted;
  for (const codegen::KernelParam& arg : rendered.params) {
    if (arg.is_var) {
      const bool wide = arg.dtype == kI64;
      var_args.push_back({args.size(), arg.name, wide});
      args.push_back(VarValue(0, wide));
      continue;
    }
    if (arg.slot < 0 || static_cast<size_t>(arg.slot) >= item.buffers.size()) {
      return InvalidArgument("kernel @", name, " reads its argument ", arg.slot,
                             ", but the graph gives it ", item.buffers.size(), " buffers");
    }
    const BufferSlice& slice = item.buffers[static_cast<size_t>(arg.slot)];
    absl::StatusOr<BufferRef> buffer = Resolve(slice);
    if (!buffer.ok()) {
      return absl::Status(buffer.status().code(),
                          Cat("kernel @", name, ": ", std::string(buffer.status().message())));
    }
    if (counted.insert(buffer->get()).second) {
      const BufferDecl& decl = executable_->buffers[static_cast<size_t>(slice.buffer)];
      TG_ASSIGN_OR_RETURN(const size_t bytes, BufferBytes(*executable_, decl, sizes_));
      planned.buffer_bytes +=
          slice.size < 0 ? bytes : static_cast<size_t>(slice.size * ByteSize(decl.dtype.scalar()));
    }
    args.emplace_back(*std::move(buffer));
  }
  // The range is set together with the variables.
  NDRange range;
  for (size_t d = 0; d < 3; ++d) {
    range.local[d] = range.global[d] = static_cast<size_t>(rendered.local[d]);
  }
  TG_RETURN_IF_ERROR(CheckLocalMemory(*planned.kernel, built->second.program->context()->info()));
  TG_ASSIGN_OR_RETURN(Launch launch,
                      Launch::Create(built->second.program, rendered.name, args, range, name));
  Step step;
  step.launch.emplace(std::move(launch));
  step.rendered = &rendered;
  step.count_work = &devices_.find(device->name)->second.count_work;
  step.var_args = std::move(var_args);
  for (const VarUse& var : item.vars) {
    if (var.bound) step.bound[var.name] = *var.bound;
  }
  steps_.push_back(std::move(step));
  planned.nodes = item.nodes;
  planned.tensors = item.tensors;
  kernels_.push_back(std::move(planned));
  return absl::OkStatus();
}

absl::Status Plan::SetVars(const VarMap& vars) {
  for (const auto& [name, value] : vars) {
    const VarDecl* decl = executable_->FindVar(name);
    if (decl == nullptr) return NotFound("there is no variable @", name);
    if (value < decl->min || value > decl->max) {
      return InvalidArgument("variable @", name, " is ", value, ", outside of its bounds [",
                             decl->min, ", ", decl->max, "]");
    }
  }
  vars_ = vars;
  for (const auto& [name, value] : measured_) vars_[name] = value;
  is_work_counted_ = false;
  counters_.clear();
  for (const ScheduledLoop& loop : graph_->loops) {
    counters_[loop.step] = 0;
    TG_RETURN_IF_ERROR(TripOf(loop).status());
  }
  for (size_t i = 0; i < steps_.size(); ++i) TG_RETURN_IF_ERROR(SetStepVars(i));
  return absl::OkStatus();
}

int64_t Plan::VarOf(size_t i, std::string_view name, std::string* missing) const {
  const VarMap& bound = steps_[i].bound;
  if (const auto value = bound.find(name); value != bound.end()) return value->second;
  if (const auto value = counters_.find(name); value != counters_.end()) return value->second;
  if (const auto value = vars_.find(name); value != vars_.end()) return value->second;
  *missing = name;
  return 0;
}

absl::Status Plan::CountWorkOf(size_t i) const {
  if (!steps_[i].launch) return absl::OkStatus();
  const CompiledKernel& kernel = *kernels_[i].kernel;
  KernelWork& work = kernels_[i].work;
  work = kernel.work.value_or(KernelWork());
  const WorkCounter& count_work = *steps_[i].count_work;
  if (!kernel.work && count_work) {
    std::string missing;
    const auto lookup = [&](std::string_view name) { return VarOf(i, name, &missing); };
    TG_ASSIGN_OR_RETURN(work, count_work(kernel, lookup));
  }
  kernels_[i].trips = TripsOf(i);
  const auto trips = static_cast<double>(kernels_[i].trips);
  work.ops *= trips;
  work.load_bytes *= trips;
  work.store_bytes *= trips;
  return absl::OkStatus();
}

std::span<const PlannedKernel> Plan::kernels() const {
  if (!is_work_counted_) {
    // Create has counted the work of each kernel once, so this does not fail.
    for (size_t i = 0; i < steps_.size(); ++i) CountWorkOf(i).IgnoreError();
    is_work_counted_ = true;
  }
  return kernels_;
}

absl::Status Plan::SetStepVars(size_t i) {
  Step& step = steps_[i];
  PlannedKernel& planned = kernels_[i];
  if (!step.launch) return absl::OkStatus();
  std::string missing;
  const auto lookup = [&](std::string_view name) { return VarOf(i, name, &missing); };
  for (const VarArg& arg : step.var_args) {
    TG_RETURN_IF_ERROR(step.launch->SetArg(arg.index, VarValue(lookup(arg.name), arg.wide)));
  }
  NDRange range;
  bool empty = false;
  for (size_t d = 0; d < 3; ++d) {
    const int64_t groups = step.rendered->groups[d].Evaluate(lookup);
    const int64_t local = step.rendered->local[d];
    int64_t global = 0;
    if (__builtin_mul_overflow(groups, local, &global)) {
      return InvalidArgument("kernel @", planned.kernel->name, ": ", groups, " groups of ", local,
                             " work-items are too many");
    }
    empty = empty || global <= 0;
    range.global[d] = static_cast<size_t>(std::max<int64_t>(global, 0));
    range.local[d] = static_cast<size_t>(local);
  }
  if (!missing.empty()) {
    return InvalidArgument("kernel @", planned.kernel->name, ": variable @", missing,
                           " has no value");
  }
  planned.range = range;
  planned.empty = empty;
  return empty ? absl::OkStatus() : step.launch->SetRange(range);
}

absl::Status Plan::Enqueue(std::vector<Event>* events) {
  if (events != nullptr) {
    events->clear();
    events->resize(steps_.size());
  }
  if (!commands_.empty()) return EnqueueOnSeveral(events);
  for (Step& step : steps_) step.earlier.clear();
  return ForEachStep([&](size_t i) { return EnqueueOne(i, events); });
}

absl::Status Plan::EnqueueOne(size_t i, std::vector<Event>* events) {
  if (kernels_[i].empty) return absl::OkStatus();
  Event* event = events == nullptr ? nullptr : &(*events)[i];
  if (event != nullptr && *event != nullptr) steps_[i].earlier.push_back(std::move(*event));
  return steps_[i].launch ? steps_[i].launch->Enqueue(event)
                          : steps_[i].transfer->EnqueueWrite(event);
}

absl::Status Plan::EnqueueStep(size_t i) {
  if (kernels_[i].empty) return absl::OkStatus();
  if (steps_[i].launch) return steps_[i].launch->Enqueue(nullptr);
  Transfer& transfer = *steps_[i].transfer;
  if (transfer.through_host()) TG_RETURN_IF_ERROR(transfer.EnqueueRead());
  return transfer.EnqueueWrite();
}

VarMap Plan::VarsOf(size_t i) const {
  VarMap vars = steps_[i].bound;
  vars.insert(counters_.begin(), counters_.end());
  vars.insert(vars_.begin(), vars_.end());
  return vars;
}

}  // namespace tg::runtime
