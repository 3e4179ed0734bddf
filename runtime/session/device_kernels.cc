#include "runtime/session/device_kernels.h"

#include <algorithm>
#include <iterator>
#include <thread>
#include <utility>

#include "runtime/base/status.h"

namespace tg::runtime {
namespace {

// PoCL compiles one program at a time, whatever the number of threads, and Oclgrind crashes on
// concurrent builds. Other drivers compile several programs in parallel.
size_t KernelsAProgram(size_t kernels, const DeviceInfo& device) {
  constexpr size_t kMostPrograms = 8, kFewestKernels = 4;
  if (device.is_pocl || device.platform == "Oclgrind") return kernels;
  return std::max(kFewestKernels, (kernels + kMostPrograms - 1) / kMostPrograms);
}

}  // namespace

DeviceKernels::DeviceKernels(std::vector<std::string> names, std::shared_ptr<Context> context,
                             Target target)
    : names_(std::move(names)),
      context_(std::move(context)),
      target_(std::move(target)),
      pool_(context_) {
  pool_.set_exact(context_->info().platform == "Oclgrind");
}

absl::Status DeviceKernels::Build(const Module& module, std::vector<NamedKernel> kernels,
                                  const BuildOptions& options) {
  kernels_ = std::move(kernels);
  if (kernels_.empty()) return absl::OkStatus();
  const size_t each = KernelsAProgram(kernels_.size(), context_->info());
  std::vector<std::string> sources;
  {
    const ScopedSpan span(options.spans, "render");
    Workers workers(0);
    for (size_t begin = 0; begin < kernels_.size(); begin += each) {
      std::vector<const Kernel*> part;
      for (size_t i = begin; i < std::min(begin + each, kernels_.size()); ++i) {
        part.push_back(kernels_[i].kernel);
      }
      TG_ASSIGN_OR_RETURN(RenderedModule rendered, RenderModule(module, part, target_, &workers));
      sources.push_back(std::move(rendered.source));
      std::move(rendered.kernels.begin(), rendered.kernels.end(), std::back_inserter(rendered_));
    }
  }
  const ScopedSpan span(options.spans, "build");
  return BuildPrograms(sources, each, options);
}

absl::Status DeviceKernels::BuildPrograms(std::span<const std::string> sources, size_t kernels_each,
                                          const BuildOptions& options) {
  using Built = absl::StatusOr<std::shared_ptr<const Program>>;
  std::vector<Built> programs(sources.size());
  std::string flags = options.build_options;
  if (context_->info().exact_divide) flags += " -cl-fp32-correctly-rounded-divide-sqrt";
  const auto build = [&](size_t i) {
    programs[i] = BuildProgram(context_, sources[i], flags, options.cache);
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
    built_[kernels_[i].name] = {kernels_[i].kernel, &rendered_[i], *programs[i / kernels_each]};
  }
  return absl::OkStatus();
}

}  // namespace tg::runtime
