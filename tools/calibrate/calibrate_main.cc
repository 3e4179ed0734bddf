#include "tools/calibrate/calibrate_main.h"

#include <unistd.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/status.h"
#include "passes/instrument/temporary_file.h"
#include "passes/instrument/write_file.h"
#include "passes/target_fields.h"
#include "runtime/device/device.h"
#include "runtime/devices/devices.h"
#include "runtime/report/format.h"
#include "runtime/search/fit_target.h"
#include "runtime/search/sqlite_record.h"
#include "runtime/session/device_target.h"
#include "tools/calibrate/calibrate.h"
#include "tools/driver/flags.h"
#include "tools/driver/listing.h"
#include "tools/driver/out_of_memory.h"
#include "tools/driver/standard_error.h"

namespace tg::calibrate {
namespace {

using runtime::FormatNumber;

constexpr char kTool[] = "tg-calibrate";

std::string ErrorText(const search::PredictionErrors& before,
                      const search::PredictionErrors& after) {
  return Cat(before.schedules, " schedules of ", before.kernels, " kernels: median error ",
             FormatNumber("%.0f%%", 100 * before.median), " -> ",
             FormatNumber("%.0f%%", 100 * after.median), "; the faster one of two is named in ",
             FormatNumber("%.0f%%", 100 * before.ordered), " -> ",
             FormatNumber("%.0f%%", 100 * after.ordered));
}

// The target as it is, but for fields that are fitted to what a search has measured.
absl::StatusOr<std::string> FittedText(const runtime::Device& device, const std::string& wish,
                                       const std::string& path) {
  TG_ASSIGN_OR_RETURN(passes::Target target, runtime::ChooseTarget(wish, "", device.info));
  TG_ASSIGN_OR_RETURN(const std::unique_ptr<search::SqliteRecord> record,
                      search::SqliteRecord::Open(path));
  TG_ASSIGN_OR_RETURN(std::vector<search::Measurement> measured, record->All());
  TG_ASSIGN_OR_RETURN(const std::vector<search::RecordedKernel> kernels, record->Kernels());
  const std::string driver = runtime::DriverText(device.info);
  std::erase_if(measured, [&](const search::Measurement& m) {
    return m.target != target.name || m.driver != driver;
  });
  TG_ASSIGN_OR_RETURN(search::FitResult fit, search::FitTarget(measured, kernels, target));
  std::string text = Cat("# ", device.info.name, ", fitted to ", path,
                         "\n# fitted: ", ErrorText(fit.fitted_before, fit.fitted_after),
                         "\n# held out: ", ErrorText(fit.other_before, fit.other_after), "\n");
  for (const std::string& change : fit.changed) text += Cat("# ", change, "\n");
  fit.target.name = "fitted";
  return text + passes::PrintTarget(fit.target);
}

absl::StatusOr<std::string> TargetText(const std::string& wish, const std::string& target,
                                       const std::string& record, bool only_reported) {
  TG_ASSIGN_OR_RETURN(const runtime::Device device, runtime::ChooseDevice(wish));
  if (!record.empty()) return FittedText(device, target, record);
  if (only_reported) return passes::PrintTarget(runtime::TargetForDevice(device.info));
  TG_ASSIGN_OR_RETURN(const calibrate::Calibration found, calibrate::Calibrate(device));
  return calibrate::CalibrationText(found, device.info.name);
}

}  // namespace

int CalibrateMain(int argc, const char* const* argv) {
  driver::ExitWhenOutOfMemory(kTool);
  driver::TolerateFullStandardError();
  instrument::TemporaryFile::RemoveOnSignals();
  std::string device, output, record, target;
  bool only_reported = false, version = false, help = false;
  driver::Flags flags(
      kTool, "[options]",
      "Measures an OpenCL device in less than a minute, and writes a target file for "
      "--target=FILE.target of tg-run, tg-opt and tg-bench: what the device reports, the "
      "rates of its arithmetic and memory, its caches, and the costs of launches.");
  flags.String("device", "NAME", &device, "the device, as for tg-run");
  flags.String("output", "FILE", &output, "where the target file goes; by default standard output");
  flags.String("fit", "RECORD", &record,
               "measure nothing: change the fitted fields so that predictions come closer to the "
               "times in this record of tg-tune; half of its kernels are held out, and the errors "
               "before and after are printed as comments");
  flags.String("target", "NAME", &target, "the target to begin a fit with, as for tg-run");
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
  if (!record.empty() && ::access(record.c_str(), R_OK) != 0) {
    return driver::Fail(kTool, driver::kFailed, NotFound("there is no record ", record));
  }
  const absl::StatusOr<std::string> text = TargetText(device, target, record, only_reported);
  if (!text.ok()) return driver::Fail(kTool, driver::kFailed, text.status());
  const absl::Status status =
      output.empty() ? instrument::WriteStdout(*text) : instrument::WriteFile(output, *text);
  return status.ok() ? driver::kOk : driver::Fail(kTool, driver::kFailed, status);
}

}  // namespace tg::calibrate
