#include "runtime/session/device_kernels.h"

#include <algorithm>
#include <numeric>
#include <thread>
#include <utility>

#include "base/status.h"
#include "codegen/llvm/renderer.h"
#include "runtime/cpu/native_program.h"
#include "runtime/opencl/cl_context.h"
#include "runtime/opencl/cl_program.h"

namespace tg::runtime {
namespace {

constexpr size_t kMaxPrograms = 8;

// Workers take time to start. A device compiles fewer kernels than this itself before a worker is
// ready.
constexpr size_t kMinKernelsForWorkers = 4;

bool UsesWorkers(size_t kernels, const DeviceInfo& device, const BuildOptions& options) {
  return device.is_pocl && options.cache != nullptr && !options.ahead.worker.empty() &&
         kernels >= kMinKernelsForWorkers;
}

// Returns the number of programs to build concurrently. PoCL compiles one program at a time,
// whatever the number of threads, and Oclgrind crashes on concurrent builds.
size_t NumPrograms(size_t kernels, const DeviceInfo& device, const BuildOptions& options) {
  constexpr size_t kMinKernels = 4;
  if (UsesWorkers(kernels, device, options)) {
    const size_t cores = std::max(1u, std::thread::hardware_concurrency());
    return std::min({cores, kMaxPrograms, kernels / 2});
  }
  if (device.is_pocl || device.platform == "Oclgrind") return 1;
  return std::clamp<size_t>((kernels + kMinKernels - 1) / kMinKernels, 1, kMaxPrograms);
}

// The size of the largest buffer of the module; 0 if one is too large to be counted.
uint64_t LargestBuffer(const Module& module) {
  uint64_t largest = 1;
  for (const BufferDecl& buffer : module.buffers) {
    const absl::StatusOr<size_t> bytes = BufferBytes(module, buffer);
    if (!bytes.ok()) return 0;
    largest = std::max<uint64_t>(largest, *bytes);
  }
  return largest;
}

}  // namespace

DeviceKernels::DeviceKernels(std::vector<std::string> names, std::shared_ptr<Context> context,
                             passes::Target target)
    : names_(std::move(names)),
      context_(std::move(context)),
      target_(std::move(target)),
      pool_(context_) {
  pool_.set_exact(context_->info().platform == "Oclgrind");
}

// Puts each kernel, the largest first, into the part with the least work.
std::vector<DeviceKernels::Part> DeviceKernels::Partition(const BuildOptions& options) const {
  const auto size = [&](size_t i) { return kernels_[i].kernel->body.linear.size(); };
  std::vector<size_t> order(kernels_.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return size(a) > size(b); });
  std::vector<Part> parts(NumPrograms(kernels_.size(), context_->info(), options));
  std::vector<size_t> work(parts.size(), 0);
  for (const size_t i : order) {
    const auto part =
        static_cast<size_t>(std::min_element(work.begin(), work.end()) - work.begin());
    constexpr size_t kOverhead = 64;  // of any kernel, in ops
    work[part] += size(i) + kOverhead;
    parts[part].kernels.push_back(i);
  }
  for (Part& part : parts) std::sort(part.kernels.begin(), part.kernels.end());
  return parts;
}

absl::Status DeviceKernels::Build(const Module& module, std::vector<NamedKernel> kernels,
                                  const BuildOptions& options) {
  kernels_ = std::move(kernels);
  if (kernels_.empty()) return absl::OkStatus();
  if (context_->info().is_native) return BuildNatively(module, options);
  std::vector<Part> parts = Partition(options);
  rendered_.resize(kernels_.size());
  {
    const ScopedSpan span(options.spans, "render");
    passes::ThreadPool workers(0);
    for (Part& part : parts) {
      std::vector<const Kernel*> members;
      for (const size_t i : part.kernels) members.push_back(kernels_[i].kernel);
      TG_ASSIGN_OR_RETURN(codegen::RenderedModule rendered,
                          opencl::RenderModule(module, members, target_, &workers));
      part.source = std::move(rendered.source);
      for (size_t i = 0; i < members.size(); ++i) {
        rendered_[part.kernels[i]] = std::move(rendered.kernels[i]);
      }
    }
  }
  const ScopedSpan span(options.spans, "build");
  std::string flags = options.build_options;
  if (context_->info().exact_divide) flags += " -cl-fp32-correctly-rounded-divide-sqrt";
  bool compiled = false;
  if (UsesWorkers(kernels_.size(), context_->info(), options)) {
    compiled = CompileParts(module, parts, flags, options);
  }
  TG_RETURN_IF_ERROR(BuildParts(parts, flags, options));
  from_cache_ |= compiled;
  return absl::OkStatus();
}

absl::Status DeviceKernels::BuildNatively(const Module& module, const BuildOptions& options) {
  {
    const ScopedSpan span(options.spans, "render");
    std::vector<const Kernel*> kernels;
    for (const NamedKernel& k : kernels_) kernels.push_back(k.kernel);
    passes::ThreadPool workers(0);
    TG_ASSIGN_OR_RETURN(codegen::RenderedModule rendered,
                        llvm_ir::LlvmRenderer().Render(module, kernels, target_, &workers));
    rendered_ = std::move(rendered.kernels);
  }
  const ScopedSpan span(options.spans, "build");
  TG_ASSIGN_OR_RETURN(const std::shared_ptr<const Program> program,
                      cpu::BuildNative(context_, rendered_, options.cache, options.spans));
  from_cache_ = program->from_cache();
  for (size_t i = 0; i < kernels_.size(); ++i) {
    built_[kernels_[i].name] = {kernels_[i].kernel, &rendered_[i], program};
  }
  return absl::OkStatus();
}

// Has workers compile what is not in PoCL's cache. Returns whether everything was there.
bool DeviceKernels::CompileParts(const Module& module, std::span<const Part> parts,
                                 const std::string& flags, const BuildOptions& options) const {
  const DeviceInfo& device = context_->info();
  const uint64_t buffer_bytes = LargestBuffer(module);
  if (buffer_bytes == 0 || buffer_bytes > device.max_allocation) return false;
  std::vector<KeyedJob> jobs;
  for (const Part& part : parts) {
    CompileJob job;
    job.platform = device.platform;
    job.device = device.name;
    job.options = flags;
    job.buffer_bytes = buffer_bytes;
    job.source = part.source;
    for (const size_t i : part.kernels) {
      CompileJob::Kernel kernel;
      kernel.name = rendered_[i].name;
      std::copy_n(rendered_[i].local, 3, kernel.local.begin());
      const auto& params = rendered_[i].params;
      // Images have no place in a job: the device compiles these kernels at their first launch.
      if (std::any_of(params.begin(), params.end(),
                      [](const codegen::KernelParam& p) { return p.dtype.is_image(); })) {
        continue;
      }
      for (const codegen::KernelParam& param : params) {
        const VarDecl* var = param.is_var ? module.FindVar(param.name) : nullptr;
        const int bytes = static_cast<int>(param.is_var ? ByteSize(param.dtype.scalar()) : 0);
        kernel.arguments.push_back({!param.is_var, bytes, var != nullptr ? var->min : 0});
      }
      job.kernels.push_back(std::move(kernel));
    }
    jobs.push_back({Cat("kernels of ", ProgramKey(device, part.source, flags)), std::move(job)});
  }
  CompileAheadOptions ahead = options.ahead;
  ahead.spans = options.spans;
  return CompileAhead(jobs, ahead, *options.cache);
}

absl::Status DeviceKernels::BuildParts(std::span<const Part> parts, const std::string& flags,
                                       const BuildOptions& options) {
  using Built = absl::StatusOr<std::shared_ptr<const OpenClProgram>>;
  const auto context = std::static_pointer_cast<OpenClContext>(context_);
  std::vector<Built> programs(parts.size());
  DiskCache* cache = CachingPays(context_->info()) ? options.cache : nullptr;
  const auto build = [&](size_t i) {
    programs[i] = BuildProgram(context, parts[i].source, flags, cache);
  };
  std::vector<std::thread> threads;
  for (size_t i = 1; i < parts.size(); ++i) threads.emplace_back(build, i);
  build(0);
  for (std::thread& thread : threads) thread.join();
  from_cache_ = true;
  for (size_t p = 0; p < parts.size(); ++p) {
    if (!programs[p].ok()) return programs[p].status();
    from_cache_ = from_cache_ && (*programs[p])->from_cache();
    for (const size_t i : parts[p].kernels) {
      built_[kernels_[i].name] = {kernels_[i].kernel, &rendered_[i], *programs[p]};
    }
  }
  return absl::OkStatus();
}

}  // namespace tg::runtime
