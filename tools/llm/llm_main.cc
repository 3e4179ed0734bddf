#include "tools/llm/llm_main.h"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/status.h"
#include "passes/instrument/write_file.h"
#include "runtime/device/device.h"
#include "runtime/opencl/compile_job.h"
#include "tools/driver/device_listing.h"
#include "tools/driver/flags.h"
#include "tools/driver/out_of_memory.h"
#include "tools/driver/standard_error.h"
#include "tools/llm/llm_flags.h"
#include "tools/llm/llm_run.h"

namespace tg::llm {
namespace {

constexpr char kTool[] = "tg-llm";

}  // namespace

int LlmMain(int argc, const char* const* argv) {
  if (argc == 2 && std::string_view(argv[1]) == runtime::kCompileWorkerFlag) {
    return runtime::RunCompileWorker();
  }
  driver::ExitWhenOutOfMemory(kTool);
  driver::TolerateFullStandardError();
  LlmFlags values;
  driver::Flags flags(kTool, "[options] model.gguf | model.tgx",
                      "Writes text with a language model: answers a prompt (-p, -f), or chats.");
  values.AddTo(flags);
  const absl::StatusOr<std::vector<std::string>> models =
      flags.Parse(std::vector<std::string>(argv + 1, argv + argc));
  if (!models.ok()) return driver::Fail(kTool, driver::kUsage, models.status());
  if (values.help || values.version || values.list_devices) {
    const absl::StatusOr<std::string> listing =
        driver::DeviceToolListing(kTool, {values.help, values.version, values.list_devices}, flags);
    const absl::Status status = listing.ok() ? instrument::WriteStdout(*listing) : listing.status();
    return status.ok() ? driver::kOk : driver::Fail(kTool, driver::kFailed, status);
  }
  absl::StatusOr<GenerateOptions> options = values.Interpret();
  if (!options.ok()) return driver::Fail(kTool, driver::kUsage, options.status());
  if (models->size() != 1) {
    return driver::Fail(kTool, driver::kUsage,
                        InvalidArgument(models->empty() ? "no model is given; see tg-llm --help"
                                                        : "one model, not " + (*models)[0] +
                                                              " and " + (*models)[1]));
  }
  const absl::Status status = LlmRun(values, *std::move(options)).Run((*models)[0]);
  return status.ok() ? driver::kOk : driver::Fail(kTool, driver::kFailed, status);
}

}  // namespace tg::llm
