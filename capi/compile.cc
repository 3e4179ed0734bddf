#include "capi/compile.h"

#include <utility>
#include <vector>

#include "base/status.h"
#include "capi/threads.h"
#include "passes/pass_manager.h"
#include "passes/pipeline.h"
#include "runtime/artifact/compile_artifact.h"
#include "runtime/session/choose_devices.h"
#include "runtime/session/open_devices.h"
#include "tools/driver/listing.h"
#include "tools/run/half_pipeline.h"

namespace tg::capi {
namespace {

// Tells the caller's progress function of each pass.
class PassProgress : public passes::PassObserver {
 public:
  explicit PassProgress(const LoadOptions& options) : options_(options) {}
  absl::Status BeforePass(const passes::PassRun& run, const Module&) override {
    return options_.progress(
        "passes", static_cast<double>(run.index) / static_cast<double>(run.pipeline.size()));
  }

 private:
  const LoadOptions& options_;
};

}  // namespace

runtime::DiskCache* ProcessCache() {
  static runtime::DiskCache& cache = *new runtime::DiskCache(runtime::DefaultCacheDirectory());
  return cache.directory().empty() ? nullptr : &cache;
}

absl::StatusOr<passes::Pipeline> PipelineFor(const LoadOptions& options) {
  passes::Pipeline pipeline = passes::MakePipeline(passes::kPipeline);
  if (!options.float16) return pipeline;
  return run::WithHalf(passes::MakeRegistry({}), std::move(pipeline));
}

absl::Status CompileModule(Module& module, const LoadOptions& options,
                           const passes::Pipeline& pipeline,
                           runtime::DeviceSessionOptions& devices) {
  const std::string texts[] = {options.device};
  TG_ASSIGN_OR_RETURN(const runtime::DeviceRequest request, runtime::ParseDeviceRequest(texts));
  TG_ASSIGN_OR_RETURN(const std::vector<runtime::ChosenDevice> chosen,
                      runtime::ChooseDevices(module, request));
  TG_RETURN_IF_ERROR(runtime::OpenDevices(module, chosen, "", options.profile, devices));
  devices.cache = ProcessCache();
  PassProgress progress(options);
  passes::PassManagerOptions passes;
  passes.observer = &progress;
  passes.jobs = Threads();
  return runtime::CompileForDevices(module, pipeline, passes, devices);
}

absl::Status CompileToFile(const Input& input, const LoadOptions& options,
                           const std::string& output) {
  if (input.is_artifact) return InvalidArgument(input.path, " is compiled already");
  if (options.device == "reference") {
    return InvalidArgument("the interpreter runs models as they are; a device is needed");
  }
  TG_RETURN_IF_ERROR(options.progress("read", 0));
  TG_ASSIGN_OR_RETURN(std::unique_ptr<Module> module, ReadModule(input, options, nullptr));
  TG_ASSIGN_OR_RETURN(const passes::Pipeline pipeline, PipelineFor(options));
  runtime::DeviceSessionOptions devices;
  TG_RETURN_IF_ERROR(CompileModule(*module, options, pipeline, devices));
  TG_RETURN_IF_ERROR(options.progress("kernels", 0));
  const std::string name = input.path.substr(input.path.rfind('/') + 1);
  return artifact::CompileArtifact(std::move(module), devices,
                                   {Cat("libtg ", driver::kVersion), name}, output);
}

}  // namespace tg::capi
