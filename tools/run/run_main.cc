#include "tools/run/run_main.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/status.h"
#include "passes/instrument/temporary_file.h"
#include "passes/instrument/write_file.h"
#include "passes/pipeline.h"
#include "passes/pipeline_text.h"
#include "runtime/device/device.h"
#include "runtime/opencl/compile_job.h"
#include "runtime/opencl/opencl_layers.h"
#include "runtime/session/half_pipeline.h"
#include "tools/driver/device_listing.h"
#include "tools/driver/flags.h"
#include "tools/driver/out_of_memory.h"
#include "tools/driver/standard_error.h"
#include "tools/run/model_run.h"
#include "tools/run/run_flags.h"

namespace tg::run {
namespace {

constexpr char kTool[] = "tg-run";

// Builds the pipeline and passes the options of --schedule to the pass that schedules kernels.
absl::StatusOr<passes::Pipeline> PipelineOf(const RunFlags& flags,
                                            const passes::PassRegistry& registry) {
  absl::StatusOr<passes::Pipeline> pipeline =
      passes::ParsePipeline(flags.pass, registry, passes::kPipeline);
  if (!pipeline.ok()) {
    return InvalidArgument("--pass: ", std::string(pipeline.status().message()));
  }
  if (flags.schedule.empty()) return pipeline;
  absl::StatusOr<passes::Pipeline> step =
      passes::ParsePipeline("schedule:" + flags.schedule, registry, passes::kPipeline);
  if (!step.ok()) {
    return InvalidArgument("--schedule: ", std::string(step.status().message()));
  }
  bool found = false;
  for (passes::PipelineStep& s : *pipeline) {
    if (s.pass != step->front().pass) continue;
    s = step->front();
    found = true;
  }
  if (!found) return InvalidArgument("--schedule: the pipeline has no pass schedule");
  return pipeline;
}

}  // namespace

int RunMain(int argc, const char* const* argv, std::span<const passes::Pass* const> embedder) {
  if (argc == 2 && std::string_view(argv[1]) == runtime::kCompileWorkerFlag) {
    return runtime::RunCompileWorker();
  }
  driver::ExitWhenOutOfMemory(kTool);
  driver::TolerateFullStandardError();
  runtime::KeepOpenClLayersFromChildren();
  instrument::TemporaryFile::RemoveOnSignals();
  RunFlags values;
  driver::Flags flags(
      kTool, "[options] model.uop",
      "Compiles a module for a device, runs one of its graphs, and shows, writes or checks "
      "what comes out.");
  values.AddTo(flags);
  const absl::StatusOr<std::vector<std::string>> models =
      flags.Parse(std::vector<std::string>(argv + 1, argv + argc));
  if (!models.ok()) return driver::Fail(kTool, driver::kUsage, models.status());

  const absl::StatusOr<std::string> listing =
      driver::DeviceToolListing(kTool, {values.help, values.version, values.list_devices}, flags);
  if (!listing.ok()) return driver::Fail(kTool, driver::kFailed, listing.status());
  if (values.help || values.version || values.list_devices) {
    const absl::Status status = instrument::WriteStdout(*listing);
    return status.ok() ? driver::kOk : driver::Fail(kTool, driver::kFailed, status);
  }
  if (const absl::Status status = values.Interpret(); !status.ok())
    return driver::Fail(kTool, driver::kUsage, status);
  const passes::PassRegistry registry = passes::MakeRegistry(embedder);
  absl::StatusOr<passes::Pipeline> pipeline = PipelineOf(values, registry);
  if (!pipeline.ok()) return driver::Fail(kTool, driver::kUsage, pipeline.status());
  absl::StatusOr<passes::Pipeline> half =
      values.float16 ? runtime::WithHalf(registry, *pipeline) : pipeline;
  if (!half.ok()) return driver::Fail(kTool, driver::kUsage, half.status());
  if (models->size() != 1) {
    return driver::Fail(kTool, driver::kUsage,
                        InvalidArgument(models->empty() ? "no module is given; see tg-run --help"
                                                        : "one module, not " + (*models)[0] +
                                                              " and " + (*models)[1]));
  }
  const absl::Status status =
      ModelRun(values, *std::move(pipeline), *std::move(half)).Run((*models)[0]);
  if (!status.ok()) return driver::Fail(kTool, driver::kFailed, status);
  const absl::Status flushed = instrument::FlushStdout();
  return flushed.ok() ? driver::kOk : driver::Fail(kTool, driver::kFailed, flushed);
}

}  // namespace tg::run
