#include "tools/report/report_main.h"

#include <string>
#include <vector>

#include "base/status.h"
#include "passes/instrument/temporary_file.h"
#include "passes/instrument/write_file.h"
#include "runtime/io/file.h"
#include "runtime/report/run_report.h"
#include "tools/driver/flags.h"
#include "tools/driver/listing.h"
#include "tools/driver/standard_error.h"

namespace tg::report {
namespace {

constexpr char kTool[] = "tg-report";

absl::StatusOr<runtime::RunReport> ReadReport(const std::string& path) {
  TG_ASSIGN_OR_RETURN(const std::string text, runtime::ReadFile(path));
  absl::StatusOr<runtime::RunReport> report = runtime::ReportFromJson(text);
  if (report.ok()) return report;
  return InvalidArgument(path, ": ", std::string(report.status().message()));
}

absl::Status Compare(const std::string& path_a, const std::string& path_b) {
  TG_ASSIGN_OR_RETURN(const runtime::RunReport a, ReadReport(path_a));
  TG_ASSIGN_OR_RETURN(const runtime::RunReport b, ReadReport(path_b));
  return instrument::WriteStdout(runtime::CompareReports(path_a, a, path_b, b));
}

absl::Status WritePage(const std::string& path, const std::string& page) {
  TG_ASSIGN_OR_RETURN(const runtime::RunReport report, ReadReport(path));
  return instrument::WriteFile(page, runtime::ReportToHtml(report));
}

}  // namespace

int ReportMain(int argc, const char* const* argv) {
  driver::TolerateFullStandardError();
  instrument::TemporaryFile::RemoveOnSignals();
  bool compare = false, version = false, help = false;
  std::string page;
  driver::Flags flags(
      kTool, "--compare A.json B.json | --page=FILE.html A.json",
      "Compares two runs that tg-run --report=FILE.json has written, kernel by kernel, or "
      "makes a page of one.");
  flags.Bool(
      "compare", &compare,
      "a table of the kernels of both, which correspond by name and order, or by what they are "
      "made of where another schedule has changed the name");
  flags.String("page", "FILE.html", &page, "write the report as a page");
  flags.Bool("version", &version, "print the version");
  flags.Bool("help", &help, "print this text");
  const absl::StatusOr<std::vector<std::string>> files =
      flags.Parse(std::vector<std::string>(argv + 1, argv + argc));
  if (!files.ok()) return driver::Fail(kTool, driver::kUsage, files.status());
  absl::Status status;
  if (help || version) {
    status = instrument::WriteStdout((help ? flags.Help() : "") +
                                     (version ? driver::VersionText(kTool) : ""));
  } else if (compare == !page.empty()) {
    return driver::Fail(kTool, driver::kUsage,
                        InvalidArgument("one of --compare and --page; see tg-report --help"));
  } else if (files->size() != (compare ? 2 : 1)) {
    return driver::Fail(kTool, driver::kUsage,
                        InvalidArgument(compare ? "--compare needs two reports, not "
                                                : "--page needs one report, not ",
                                        files->size()));
  } else {
    status = compare ? Compare((*files)[0], (*files)[1]) : WritePage((*files)[0], page);
  }
  return status.ok() ? driver::kOk : driver::Fail(kTool, driver::kFailed, status);
}

}  // namespace tg::report
