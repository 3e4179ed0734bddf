#include "runtime/session/device_session.h"

#include <algorithm>
#include <iterator>
#include <thread>
#include <utility>

#include "runtime/base/status.h"

namespace tg::runtime {
namespace {

// PoCL compiles one program at a time, whatever the number of threads, and Oclgrind crashes when
// asked for two; other drivers compile several.
size_t KernelsAProgram(size_t kernels, const DeviceInfo& device) {
  constexpr size_t kMostPrograms = 8, kFewestKernels = 4;
  if (device.is_pocl || device.platform == "Oclgrind") return kernels;
  return std::max(kFewestKernels, (kernels + kMostPrograms - 1) / kMostPrograms);
}

}  // namespace

DeviceSession::DeviceSession(std::unique_ptr<Module> module, DeviceSessionOptions options)
    : Session(std::move(module)), options_(std::move(options)), pool_(options_.context) {
  pool_.set_exact(options_.context->info().platform == "Oclgrind");
}

absl::StatusOr<std::unique_ptr<DeviceSession>> DeviceSession::Create(std::unique_ptr<Module> module,
                                                                     DeviceSessionOptions options) {
  std::unique_ptr<DeviceSession> session(new DeviceSession(std::move(module), std::move(options)));
  TG_RETURN_IF_ERROR(session->Build());
  return session;
}

absl::Status DeviceSession::Build() {
  const std::vector<std::unique_ptr<Kernel>>& kernels = module().kernels;
  if (kernels.empty()) return absl::OkStatus();
  const size_t each = KernelsAProgram(kernels.size(), options_.context->info());
  std::vector<std::string> sources;
  {
    const ScopedSpan span(options_.spans, "render");
    Workers workers(0);
    for (size_t begin = 0; begin < kernels.size(); begin += each) {
      std::vector<const Kernel*> part;
      for (size_t i = begin; i < std::min(begin + each, kernels.size()); ++i) {
        part.push_back(kernels[i].get());
      }
      TG_ASSIGN_OR_RETURN(RenderedModule rendered,
                          RenderModule(module(), part, options_.target, &workers));
      sources.push_back(std::move(rendered.source));
      std::move(rendered.kernels.begin(), rendered.kernels.end(), std::back_inserter(rendered_));
    }
  }
  const ScopedSpan span(options_.spans, "build");
  return BuildPrograms(sources, each);
}

absl::Status DeviceSession::BuildPrograms(std::span<const std::string> sources,
                                          size_t kernels_each) {
  using Built = absl::StatusOr<std::shared_ptr<const Program>>;
  std::vector<Built> programs(sources.size());
  std::string flags = options_.build_options;
  if (options_.context->info().exact_divide) flags += " -cl-fp32-correctly-rounded-divide-sqrt";
  const auto build = [&](size_t i) {
    programs[i] = BuildProgram(options_.context, sources[i], flags, options_.cache);
  };
  std::vector<std::thread> threads;
  for (size_t i = 1; i < sources.size(); ++i) threads.emplace_back(build, i);
  build(0);
  for (std::thread& thread : threads) thread.join();
  from_cache_ = true;
  for (const Built& program : programs) {
    if (!program.ok()) return program.status();
    from_cache_ = from_cache_ && (*program)->from_cache();
  }
  for (size_t i = 0; i < rendered_.size(); ++i) {
    built_[module().kernels[i]->name] = {&rendered_[i], *programs[i / kernels_each]};
  }
  return absl::OkStatus();
}

absl::StatusOr<BufferRef> DeviceSession::BufferFor(const BufferDecl& buffer) {
  BufferRef& ref = buffers_[buffer.name];
  if (ref != nullptr) return ref;
  TG_ASSIGN_OR_RETURN(const size_t bytes, BufferBytes(module(), buffer));
  absl::StatusOr<BufferRef> made = pool_.Allocate(bytes);
  if (!made.ok()) {
    return absl::Status(made.status().code(), Cat(RoleName(buffer.role), " @", buffer.name, ": ",
                                                  std::string(made.status().message())));
  }
  return ref = *std::move(made);
}

absl::Status DeviceSession::Upload(const BufferDecl& buffer, std::span<const int64_t>,
                                   std::span<const std::byte> bytes) {
  const ScopedSpan span(options_.spans, "upload");
  TG_ASSIGN_OR_RETURN(const BufferRef ref, BufferFor(buffer));
  return bytes.empty() ? absl::OkStatus() : Write(*ref, 0, bytes);
}

absl::Status DeviceSession::Download(const BufferDecl& buffer, HostTensor& tensor) {
  const ScopedSpan span(options_.spans, "download");
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
