#include "runtime/session/device_kernels.h"

#include <algorithm>
#include <thread>
#include <utility>

#include "base/status.h"
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

// The size of the largest buffer of the module; 0 if one is too large to be counted.
uint64_t LargestBuffer(const Declarations& decls) {
  uint64_t largest = 1;
  for (const BufferDecl& buffer : decls.buffers) {
    const absl::StatusOr<size_t> bytes = BufferBytes(decls, buffer);
    if (!bytes.ok()) return 0;
    largest = std::max<uint64_t>(largest, *bytes);
  }
  return largest;
}

}  // namespace

// PoCL compiles one program at a time,
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

std::string CompilerOptions(const DeviceInfo& device, const BuildOptions& options) {
  return Cat(options.build_options,
             device.exact_divide ? " -cl-fp32-correctly-rounded-divide-sqrt" : "");
}

DeviceKernels::DeviceKernels(const DeviceCode& code, std::shared_ptr<Context> context)
    : code_(code), context_(std::move(context)), pool_(context_) {
  pool_.set_exact(context_->info().platform == "Oclgrind");
}

DeviceKernels::DeviceKernels(const DeviceKernels& other)
    : DeviceKernels(other.code_, other.context_) {
  built_ = other.built_;
  from_cache_ = other.from_cache_;
}

absl::Status DeviceKernels::Build(const Declarations& decls, const BuildOptions& options) {
  if (code_.kernels.empty()) return absl::OkStatus();
  const ScopedSpan span(options.spans, "build");
  if (context_->info().is_native) return BuildNatively(options);
  const std::string flags = CompilerOptions(context_->info(), options);
  bool compiled = false;
  const bool is_compiled = std::all_of(code_.programs.begin(), code_.programs.end(),
                                       [](const auto& p) { return !p.binary.empty(); });
  if (!is_compiled && UsesWorkers(code_.kernels.size(), context_->info(), options)) {
    compiled = CompileParts(decls, flags, options);
  }
  TG_RETURN_IF_ERROR(BuildPrograms(flags, options));
  from_cache_ |= compiled;
  return absl::OkStatus();
}

absl::Status DeviceKernels::BuildNatively(const BuildOptions& options) {
  std::vector<cpu::NativeKernel> kernels;
  for (const CompiledKernel& k : code_.kernels) kernels.push_back({&k.code, k.object});
  TG_ASSIGN_OR_RETURN(const std::shared_ptr<const Program> program,
                      cpu::BuildNative(context_, kernels, options.cache, options.spans));
  from_cache_ = program->from_cache();
  for (const CompiledKernel& k : code_.kernels) built_[k.kernel] = {&k, program};
  return absl::OkStatus();
}

// Has workers compile what is not in PoCL's cache. Returns whether everything was there.
bool DeviceKernels::CompileParts(const Declarations& decls, const std::string& flags,
                                 const BuildOptions& options) const {
  const DeviceInfo& device = context_->info();
  const uint64_t buffer_bytes = LargestBuffer(decls);
  if (buffer_bytes == 0 || buffer_bytes > device.max_allocation) return false;
  std::vector<KeyedJob> jobs;
  for (const ProgramSource& part : code_.programs) {
    CompileJob job;
    job.platform = device.platform;
    job.device = device.name;
    job.options = flags;
    job.buffer_bytes = buffer_bytes;
    job.source = part.source;
    for (const size_t i : part.kernels) {
      CompileJob::Kernel kernel;
      const codegen::RenderedKernel& code = code_.kernels[i].code;
      kernel.name = code.name;
      std::copy_n(code.local, 3, kernel.local.begin());
      const auto& params = code.params;
      // Images have no place in a job: the device compiles these kernels at their first launch.
      if (std::any_of(params.begin(), params.end(),
                      [](const codegen::KernelParam& p) { return p.dtype.is_image(); })) {
        continue;
      }
      for (const codegen::KernelParam& param : params) {
        const VarDecl* var = param.is_var ? decls.FindVar(param.name) : nullptr;
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

absl::Status DeviceKernels::BuildPrograms(const std::string& flags, const BuildOptions& options) {
  using Built = absl::StatusOr<std::shared_ptr<const OpenClProgram>>;
  const auto context = std::static_pointer_cast<OpenClContext>(context_);
  const std::vector<ProgramSource>& parts = code_.programs;
  std::vector<Built> programs(parts.size());
  DiskCache* cache = CachingPays(context_->info()) ? options.cache : nullptr;
  const auto build = [&](size_t i) {
    programs[i] = BuildProgram(context, parts[i].source, flags, cache, parts[i].binary);
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
      built_[code_.kernels[i].kernel] = {&code_.kernels[i], *programs[p]};
    }
  }
  return absl::OkStatus();
}

}  // namespace tg::runtime
