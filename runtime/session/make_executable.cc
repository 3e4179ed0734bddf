#include "runtime/session/make_executable.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <utility>

#include "base/status.h"
#include "codegen/kernel_names.h"
#include "codegen/llvm/renderer.h"
#include "codegen/opencl/renderer.h"
#include "ir/devices.h"
#include "ir/scratch.h"
#include "runtime/plan/kernel_stats.h"
#include "runtime/plan/launch_order.h"
#include "runtime/report/kernel_table.h"
#include "runtime/session/params.h"

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

// Puts each kernel, the largest first, into the program with the least work.
std::vector<ProgramSource> Partition(std::span<const Kernel* const> kernels, size_t programs) {
  const auto size = [&](size_t i) { return kernels[i]->body.linear.size(); };
  std::vector<size_t> order(kernels.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return size(a) > size(b); });
  std::vector<ProgramSource> parts(programs);
  std::vector<size_t> work(parts.size(), 0);
  for (const size_t i : order) {
    const auto part =
        static_cast<size_t>(std::min_element(work.begin(), work.end()) - work.begin());
    constexpr size_t kOverhead = 64;  // of any kernel, in ops
    work[part] += size(i) + kOverhead;
    parts[part].kernels.push_back(i);
  }
  for (ProgramSource& part : parts) std::sort(part.kernels.begin(), part.kernels.end());
  return parts;
}

// The kernel's work, unless that depends on variables.
absl::StatusOr<std::optional<KernelWork>> ConstantWork(const Kernel& kernel) {
  bool is_constant = true;
  const auto lookup = [&](std::string_view) {
    is_constant = false;
    return int64_t{1};
  };
  TG_ASSIGN_OR_RETURN(const KernelWork work, CountWork(kernel, lookup));
  return is_constant ? std::optional(work) : std::nullopt;
}

// Renders kernels of a linear module for one device: as one program, or as a few that are compiled
// concurrently.
absl::Status Render(const Module& module, std::span<const int> kernels,
                    const passes::Target& target, const DeviceInfo& device,
                    const BuildOptions& options, DeviceCode& code) {
  const ScopedSpan span(options.spans, "render");
  code.target = target.name;
  code.flops_per_second = target.flops_per_second;
  code.bytes_per_second = target.bytes_per_second;
  std::vector<const Kernel*> all;
  for (const int k : kernels) {
    const Kernel& kernel = *module.kernels[static_cast<size_t>(k)];
    all.push_back(&kernel);
    CompiledKernel& compiled = code.kernels.emplace_back();
    compiled.kernel = k;
    compiled.name = kernel.name;
    compiled.colored_name = codegen::ColoredName(kernel);
    compiled.metadata = kernel.metadata;
    compiled.schedule = DescribeSchedule(kernel);
    compiled.local_bytes = ScratchBytes(kernel.body.linear, AddrSpace::kLocal);
  }
  if (all.empty()) return absl::OkStatus();
  passes::ThreadPool workers(0);
  if (device.is_native) {
    TG_ASSIGN_OR_RETURN(codegen::RenderedModule rendered,
                        llvm_ir::LlvmRenderer().Render(module, all, target, &workers));
    for (size_t i = 0; i < all.size(); ++i) code.kernels[i].code = std::move(rendered.kernels[i]);
    return absl::OkStatus();
  }
  code.programs = Partition(all, NumPrograms(all.size(), device, options));
  for (ProgramSource& part : code.programs) {
    std::vector<const Kernel*> members;
    for (const size_t i : part.kernels) members.push_back(all[i]);
    TG_ASSIGN_OR_RETURN(codegen::RenderedModule rendered,
                        opencl::RenderModule(module, members, target, &workers));
    part.source = std::move(rendered.source);
    for (size_t i = 0; i < members.size(); ++i) {
      code.kernels[part.kernels[i]].code = std::move(rendered.kernels[i]);
    }
  }
  return absl::OkStatus();
}

ScheduledGraph Schedule(const Module& module, const Graph& graph) {
  ScheduledGraph out;
  out.name = graph.name;
  absl::StatusOr<std::vector<ScheduledKernel>> steps =
      MakeSchedule(module, graph, &out.loops, &out.measures);
  if (steps.ok()) out.steps = *std::move(steps);
  out.problem = steps.status();
  const Needs needs = NeedsOf(module, graph);
  for (const BufferDecl* buffer : needs.buffers) {
    out.buffers.push_back(static_cast<int>(buffer - module.buffers.data()));
  }
  for (const VarDecl* var : needs.vars) {
    out.vars.push_back(static_cast<int>(var - module.vars.data()));
  }
  return out;
}

// The devices' names, contexts, targets and modules; the first is that of the options.
std::vector<NamedDevice> AllDevices(const std::vector<std::string>& names,
                                    const DeviceSessionOptions& options) {
  const bool single = options.others.empty() && names.size() == 1;
  std::vector<NamedDevice> all = {
      {single ? names : options.names, options.context, options.target, nullptr}};
  all.insert(all.end(), options.others.begin(), options.others.end());
  return all;
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

absl::StatusOr<Executable> MakeExecutable(const Module& module,
                                          const DeviceSessionOptions& options) {
  const std::vector<std::string> names = DeviceNames(module);
  const std::vector<NamedDevice> devices = AllDevices(names, options);
  for (const std::string& name : names) {
    const bool is_open = std::any_of(devices.begin(), devices.end(), [&](const NamedDevice& d) {
      return std::find(d.names.begin(), d.names.end(), name) != d.names.end();
    });
    if (is_open) continue;
    return NotFound("module @", module.name, " is for device '", name, "' too, which is not open");
  }
  Executable out;
  static_cast<Declarations&>(out) = module;
  for (const auto& kernel : module.kernels) out.kernel_names.push_back(kernel->name);
  for (const auto& graph : module.graphs) out.graphs.push_back(Schedule(module, *graph));
  const auto used = KernelsByDevice(module);
  for (const NamedDevice& device : devices) {
    std::vector<int> kernels;
    for (size_t i = 0; i < module.kernels.size(); ++i) {
      const std::string& name = module.kernels[i]->name;
      const bool needed =
          std::any_of(device.names.begin(), device.names.end(), [&](const std::string& own) {
            const auto found = used.find(own);
            return found != used.end() && found->second.contains(name);
          });
      // On a single device, kernels that no graph runs are built too, to detect errors.
      if (needed || devices.size() == 1) kernels.push_back(static_cast<int>(i));
    }
    const Module& linear = device.module ? *device.module : module;
    DeviceCode& code = out.devices.emplace_back();
    code.names = device.names;
    TG_RETURN_IF_ERROR(
        Render(linear, kernels, device.target, device.context->info(), options, code));
    // Kernels' work is only counted where a graph runs them: it is an error if it cannot be.
    for (CompiledKernel& kernel : code.kernels) {
      const auto runs = [&](const ScheduledGraph& graph) {
        return std::any_of(graph.steps.begin(), graph.steps.end(),
                           [&](const ScheduledKernel& s) { return s.kernel == kernel.kernel; });
      };
      if (std::none_of(out.graphs.begin(), out.graphs.end(), runs)) continue;
      TG_ASSIGN_OR_RETURN(kernel.work,
                          ConstantWork(*linear.kernels[static_cast<size_t>(kernel.kernel)]));
    }
  }
  return out;
}

absl::StatusOr<std::unique_ptr<DeviceSession>> DeviceSession::Create(std::unique_ptr<Module> module,
                                                                     DeviceSessionOptions options) {
  TG_ASSIGN_OR_RETURN(Executable executable, MakeExecutable(*module, options));
  const std::shared_ptr<const Module> own = std::move(module);
  std::vector<std::shared_ptr<const Module>> modules = {own};
  std::vector<std::shared_ptr<Context>> contexts = {options.context};
  for (const NamedDevice& other : options.others) {
    modules.push_back(other.module ? other.module : own);
    contexts.push_back(other.context);
  }
  const auto count_work = [modules](size_t device, const CompiledKernel& kernel,
                                    const VarLookup& var) {
    return CountWork(*modules[device]->kernels[static_cast<size_t>(kernel.kernel)], var);
  };
  OpenContents contents = [own] { return std::make_unique<ParamReader>(*own); };
  TG_ASSIGN_OR_RETURN(std::unique_ptr<DeviceSession> session,
                      Create(std::make_unique<const Executable>(std::move(executable)), contexts,
                             std::move(contents), std::move(options), count_work));
  session->modules_ = std::move(modules);
  return session;
}

}  // namespace tg::runtime
