#include "runtime/session/device_session.h"

#include <utility>

#include "runtime/base/status.h"

namespace tg::runtime {

DeviceSession::DeviceSession(std::unique_ptr<Module> module, DeviceSessionOptions options)
    : Session(std::move(module)), options_(std::move(options)), pool_(options_.context) {}

absl::StatusOr<std::unique_ptr<DeviceSession>> DeviceSession::Create(
    std::unique_ptr<Module> module, DeviceSessionOptions options) {
  std::unique_ptr<DeviceSession> session(
      new DeviceSession(std::move(module), std::move(options)));
  TG_RETURN_IF_ERROR(session->Build());
  return session;
}

absl::Status DeviceSession::Build() {
  {
    const ScopedSpan span(options_.spans, "render");
    TG_ASSIGN_OR_RETURN(rendered_, RenderModule(module(), options_.target));
  }
  if (rendered_.kernels.empty()) return absl::OkStatus();
  const ScopedSpan span(options_.spans, "build");
  TG_ASSIGN_OR_RETURN(std::shared_ptr<const Program> program,
                      BuildProgram(options_.context, rendered_.source, options_.build_options,
                                   options_.cache));
  from_cache_ = program->from_cache();
  for (size_t i = 0; i < rendered_.kernels.size(); ++i) {
    built_[module().kernels[i]->name] = {&rendered_.kernels[i], program};
  }
  return absl::OkStatus();
}

absl::StatusOr<BufferRef> DeviceSession::BufferFor(const BufferDecl& buffer) {
  BufferRef& ref = buffers_[buffer.name];
  if (ref != nullptr) return ref;
  TG_ASSIGN_OR_RETURN(const size_t bytes, BufferBytes(module(), buffer));
  absl::StatusOr<BufferRef> made = pool_.Allocate(bytes);
  if (!made.ok()) {
    return absl::Status(made.status().code(),
                        Cat(RoleName(buffer.role), " @", buffer.name, ": ",
                            std::string(made.status().message())));
  }
  return ref = *std::move(made);
}

absl::Status DeviceSession::Upload(const BufferDecl& buffer, std::span<const int64_t>,
                                   std::span<const std::byte> bytes) {
  const ScopedSpan span(options_.spans, Cat("upload @", buffer.name));
  TG_ASSIGN_OR_RETURN(const BufferRef ref, BufferFor(buffer));
  return bytes.empty() ? absl::OkStatus() : Write(*ref, 0, bytes);
}

absl::Status DeviceSession::Download(const BufferDecl& buffer, HostTensor& tensor) {
  const ScopedSpan span(options_.spans, Cat("download @", buffer.name));
  TG_ASSIGN_OR_RETURN(const BufferRef ref, BufferFor(buffer));
  if (!tensor.data.empty()) TG_RETURN_IF_ERROR(Read(*ref, 0, tensor.data));
  if (tensor.type == ElementType::kBool) NormalizeBools(tensor.data);
  return absl::OkStatus();
}

absl::StatusOr<const Plan*> DeviceSession::PlanFor(const Graph& graph,
                                                   std::span<const BufferDecl* const> buffers,
                                                   const VarMap& vars) {
  const auto found = plans_.find(graph.name);
  if (found != plans_.end()) {
    if (found->second.vars != vars) {
      TG_RETURN_IF_ERROR(found->second.plan.SetVars(vars));
      found->second.vars = vars;
    }
    return &found->second.plan;
  }
  const ScopedSpan span(options_.spans, "plan");
  for (const BufferDecl* buffer : buffers) {
    if (buffer->role == Role::kTemp) continue;
    const absl::StatusOr<BufferRef> ref = BufferFor(*buffer);
    if (!ref.ok()) return ref.status();
  }
  TG_ASSIGN_OR_RETURN(Plan plan, Plan::Create(module(), graph, built_, buffers_, vars, pool_));
  return &plans_.try_emplace(graph.name, std::move(plan), vars).first->second.plan;
}

absl::Status DeviceSession::Execute(const Graph& graph, std::span<const BufferDecl* const> buffers,
                                    const VarMap& vars) {
  TG_ASSIGN_OR_RETURN(last_plan_, PlanFor(graph, buffers, vars));
  const Context& context = *options_.context;
  // What was uploaded is not part of the run.
  TG_RETURN_IF_ERROR(context.Finish());
  std::vector<ClEvent> events;
  times_ = {};
  times_.start = HostNanos();
  TG_RETURN_IF_ERROR(last_plan_->Enqueue(options_.time_kernels ? &events : nullptr));
  TG_RETURN_IF_ERROR(context.Finish());
  times_.end = HostNanos();
  for (const ClEvent& event : events) {
    times_.kernels.emplace_back();
    if (!event) continue;
    TG_ASSIGN_OR_RETURN(times_.kernels.back(), WaitForTimes(context, event));
  }
  return absl::OkStatus();
}

}  // namespace tg::runtime
