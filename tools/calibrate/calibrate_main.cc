#include "tools/calibrate/calibrate_main.h"

#include <string>
#include <vector>

#include "base/status.h"
#include "passes/instrument/temporary_file.h"
#include "passes/instrument/write_file.h"
#include "passes/target_fields.h"
#include "runtime/devices/devices.h"
#include "runtime/session/device_target.h"
#include "tools/calibrate/calibrate.h"
#include "tools/driver/flags.h"
#include "tools/driver/listing.h"
#include "tools/driver/out_of_memory.h"
#include "tools/driver/standard_error.h"

namespace tg::calibrate {
namespace {

constexpr char kTool[] = "tg-calibrate";

absl::StatusOr<std::string> TargetText(const std::string& wish, bool only_reported) {
  TG_ASSIGN_OR_RETURN(const runtime::Device device, runtime::ChooseDevice(wish));
  if (only_reported) return passes::PrintTarget(runtime::TargetForDevice(device.info));
  TG_ASSIGN_OR_RETURN(const calibrate::Calibration found, calibrate::Calibrate(device));
  return calibrate::CalibrationText(found, device.info.name);
}

}  // namespace

int CalibrateMain(int argc, const char* const* argv) {
  driver::ExitWhenOutOfMemory(kTool);
  driver::TolerateFullStandardError();
  instrument::TemporaryFile::RemoveOnSignals();
  std::string device, output;
  bool only_reported = false, version = false, help = false;
  driver::Flags flags(
      kTool, "[options]",
      "Measures an OpenCL device in less than a minute, and writes a target file for "
      "--target=FILE.target of tg-run, tg-opt and tg-bench: what the device reports, the "
      "rates of its arithmetic and memory, its caches, and the costs of launches.");
  flags.String("device", "NAME", &device, "the device, as for tg-run");
  flags.String("output", "FILE", &output, "where the target file goes; by default standard output");
  flags.Bool("only-reported", &only_reported,
             "measure nothing: the preset that fits, with what the device reports");
  flags.Bool("version", &version, "print the version");
  flags.Bool("help", &help, "print this text");
  const absl::StatusOr<std::vector<std::string>> rest =
      flags.Parse(std::vector<std::string>(argv + 1, argv + argc));
  if (!rest.ok()) return driver::Fail(kTool, driver::kUsage, rest.status());
  if (!rest->empty()) {
    return driver::Fail(
        kTool, driver::kUsage,
        InvalidArgument("no argument is expected, but there is '", (*rest)[0], "'"));
  }
  if (help || version) {
    const std::string text =
        (help ? flags.Help() : "") + (version ? driver::VersionText(kTool) : "");
    const absl::Status status = instrument::WriteStdout(text);
    return status.ok() ? driver::kOk : driver::Fail(kTool, driver::kFailed, status);
  }
  const absl::StatusOr<std::string> text = TargetText(device, only_reported);
  if (!text.ok()) return driver::Fail(kTool, driver::kFailed, text.status());
  const absl::Status status =
      output.empty() ? instrument::WriteStdout(*text) : instrument::WriteFile(output, *text);
  return status.ok() ? driver::kOk : driver::Fail(kTool, driver::kFailed, status);
}

}  // namespace tg::calibrate
